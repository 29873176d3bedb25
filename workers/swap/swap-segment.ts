import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { frameWallMs } from './check-result.ts';
import { runSwapChild } from './child/run-swap-child.ts';
import type { SwapContext, SwappedSegment, SwapSegmentInput } from './contract.ts';

/** Mode `fullbody`: swaps the face in one segment of the plan, at the higher quality. Throws `MediaFailure`. */
export async function swapSegment(input: SwapSegmentInput, context: SwapContext): Promise<SwappedSegment> {
  const { plan, segment } = input;
  const outputPath = join(context.taskFolder, `segment-${segment}.mkv`);
  // To reach a segment, everything before it is decoded.
  const wallMs = frameWallMs(plan.segments.find(({ index }) => index === segment)?.end_frame ?? 0, plan);
  const { segments } = await runSwapChild(
    { kind: 'swap', ...input, settings: context.settings, outputPath, sheetPath: '', wallMs },
    { context, stage: 'swapping', wallMs: wallMs + 30_000 },
  );
  const report = segments.find(({ index }) => index === segment);
  if (report === undefined)
    throw new MediaFailure('RESULT_WRONG', 'A part of the video could not be swapped.');
  return { segment, path: outputPath, bytes: (await stat(outputPath)).size, report };
}
