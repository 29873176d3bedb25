import { readCanonicalMesh } from '../../media/faces/canonical-mesh.ts';
import { ModelStore } from '../../models/model-store.ts';
import { SwapEngineNotConfigured, type SwapPlan, type SwapSettings } from '../contract.ts';
import type { SourceFace } from '../image/source-face.ts';
import { LandmarkEngine, landmarkSpace } from '../landmark/landmark-engine.ts';
import { openNeuralEngine } from '../neural/neural-engine.ts';
import { neuralModelFiles } from '../neural/neural-models.ts';
import type { SwapEngine } from './swap-engine.ts';

/**
 * Says at start whether the configured engine can be used. Throws `SwapEngineNotConfigured` (MODEL_NOT_CONFIGURED)
 * naming what to set, and `ModelUnusable` for files that are not those of the manifest.
 */
export async function assertSwapEngine(
  settings: SwapSettings,
  modelsFolder: string | undefined,
): Promise<void> {
  if (settings.engine === 'landmark') return;
  if (modelsFolder === undefined) {
    throw new SwapEngineNotConfigured(
      `SWAP_ENGINE is neural, but MODELS_DIR is not set: it names a folder with ${neuralModelFiles.required.join(', ')} and a MANIFEST.json that lists each with file, sha256, source and licence.`,
    );
  }
  if (!settings.isLicenceAcknowledged) {
    throw new SwapEngineNotConfigured(
      'SWAP_ENGINE is neural, but SWAP_MODELS_LICENCE_ACKNOWLEDGED is not true: many face models (inswapper, buffalo_l, SimSwap) may not be used commercially. Set it once you have made sure that your models may be used as you use them.',
    );
  }
  const models = await ModelStore.open(modelsFolder);
  const missing = neuralModelFiles.required.filter((file) => !models.has(file));
  if (missing.length > 0) {
    throw new SwapEngineNotConfigured(
      `SWAP_ENGINE is neural, but the MANIFEST.json of MODELS_DIR does not list ${missing.join(', ')}.`,
    );
  }
  for (const file of neuralModelFiles.required) await models.read(file);
}

/** Opens the configured engine for one source face and one video. Throws `ModelUnusable`. */
export async function openSwapEngine(
  settings: SwapSettings,
  models: ModelStore,
  source: SourceFace,
  plan: Pick<SwapPlan, 'neutral_shape'>,
): Promise<SwapEngine> {
  if (settings.engine === 'neural') return openNeuralEngine(models, source);
  const space = landmarkSpace(await readCanonicalMesh(models));
  return new LandmarkEngine(
    space,
    source,
    Float32Array.from(plan.neutral_shape, (value) => value / 1000),
  );
}
