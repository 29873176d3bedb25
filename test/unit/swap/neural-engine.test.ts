import { rm } from 'node:fs/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { ModelStore } from '#workers/models/model-store.ts';
import type { SwapSettings } from '#workers/swap/contract.ts';
import { assertSwapEngine, openSwapEngine } from '#workers/swap/engine/open-engine.ts';
import type { SourceFace } from '#workers/swap/image/source-face.ts';
import { lastInitializer } from '#workers/swap/neural/last-initializer.ts';
import { modelsFolder, tinyDetector, tinyEmbedder, tinySwapper } from './tiny-swap-models.ts';

const settings: SwapSettings = { engine: 'neural', label: null, isLicenceAcknowledged: true };
const folder = await modelsFolder({
  'swap_detector.onnx': tinyDetector(),
  'swap_embedder.onnx': tinyEmbedder(),
  'swap_swapper.onnx': tinySwapper(),
});
const lacking = await modelsFolder({ 'swap_detector.onnx': tinyDetector() });
afterAll(async () => {
  for (const each of [folder, lacking]) await rm(each, { recursive: true, force: true });
});

describe('an engine that is not configured stops the start', () => {
  test.each([
    ['no folder of models', settings, undefined, /MODELS_DIR is not set/],
    [
      'no word on the licence',
      { ...settings, isLicenceAcknowledged: false },
      folder,
      /SWAP_MODELS_LICENCE_ACKNOWLEDGED/,
    ],
    ['models missing', settings, lacking, /does not list swap_embedder.onnx, swap_swapper.onnx/],
  ])('%s', async (_, given, models, message) => {
    const failed = assertSwapEngine(given, models);
    await expect(failed).rejects.toMatchObject({ code: 'MODEL_NOT_CONFIGURED' });
    await expect(failed).rejects.toThrow(message);
  });

  test('and one that is, does not', async () => {
    await assertSwapEngine(settings, folder);
    await assertSwapEngine({ ...settings, engine: 'landmark', isLicenceAcknowledged: false }, undefined);
  });
});

test('the matrix of a swapper is its last initializer', () => {
  const { dims, values } = lastInitializer(tinySwapper());
  expect(dims).toEqual([512, 512]);
  expect([values[2], values[0], values[512 + 1], values[5 * 512 + 5]]).toEqual([1, 0, 1, 1]);
});

/** Plain pictures: the embedding of a colour is the colour, which the tiny swapper paints turned round. */
function picture(width: number, height: number, colour: readonly number[]) {
  return {
    data: Uint8Array.from({ length: width * height * 3 }, (_, at) => colour[at % 3] as number),
    width,
    height,
  };
}

test('the source’s embedding goes through the matrix into the face, and the rest of the frame stays', async () => {
  const models = await ModelStore.open(folder);
  // Red above the middle grey, so its coded means are (1, 0, 0) after normalising.
  const frame = picture(640, 640, [255, 127, 127]);
  const source = { frame, points: new Float32Array(478 * 3), lipOpening: 0 } as unknown as SourceFace;
  const engine = await openSwapEngine(settings, models, source, { neutral_shape: [] });
  const points = new Float32Array(478 * 3);
  const marks = [
    [468, 80, 90],
    [473, 120, 90],
    [1, 100, 112],
    [61, 84, 135],
    [291, 116, 135],
  ] as const;
  for (const [point, x, y] of marks) points.set([x, y, 0], point * 3);
  const patch = { ...picture(200, 200, [40, 50, 60]), left: 0, top: 0 };
  const drawn = await engine.swap(patch, { points, isNew: true });
  await engine.close();
  const at = (x: number, y: number): number[] => [
    ...drawn.data.subarray((y * 200 + x) * 3, (y * 200 + x) * 3 + 3),
  ];
  const [red = 0, green = 0, blue = 0] = at(100, 110);
  // Red became blue: 0.5 + 0.5 * 1 of 255; the others stay at a half.
  expect(blue).toBeGreaterThan(250);
  expect(Math.abs(red - 128)).toBeLessThan(4);
  expect(Math.abs(green - 128)).toBeLessThan(4);
  expect(at(2, 2)).toEqual([40, 50, 60]);
  expect(at(197, 197)).toEqual([40, 50, 60]);
});
