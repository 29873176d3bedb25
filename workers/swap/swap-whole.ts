import { join } from 'node:path';
import { finishedVideo, frameWallMs } from './check-result.ts';
import { runSwapChild } from './child/run-swap-child.ts';
import type { SwapContext, SwappedVideo, SwapWholeInput } from './contract.ts';

/** Mode `face`: swaps the face in all frames in one streaming pass. Throws `MediaFailure`. */
export async function swapWhole(input: SwapWholeInput, context: SwapContext): Promise<SwappedVideo> {
  const { plan } = input;
  const outputPath = join(context.taskFolder, 'swapped.mp4');
  const sheetPath = join(context.taskFolder, 'contact-sheet.png');
  const wallMs = frameWallMs(plan.frame_count, plan);
  const { segments, times } = await runSwapChild(
    { kind: 'swap', ...input, segment: null, settings: context.settings, outputPath, sheetPath, wallMs },
    { context, stage: 'swapping', wallMs: wallMs + 30_000 },
  );
  return finishedVideo({ ...input, mode: 'face', segments, times, outputPath, sheetPath }, context);
}
