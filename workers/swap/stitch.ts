import { join } from 'node:path';
import { finishedVideo, frameWallMs } from './check-result.ts';
import { runSwapChild } from './child/run-swap-child.ts';
import type { StitchInput, SwapContext, SwappedVideo } from './contract.ts';

/** Mode `fullbody`: the finished video, all segments in their places. Throws `MediaFailure`. */
export async function stitch(input: StitchInput, context: SwapContext): Promise<SwappedVideo> {
  const { plan, videoPath } = input;
  const outputPath = join(context.taskFolder, 'swapped.mp4');
  const sheetPath = join(context.taskFolder, 'contact-sheet.png');
  const wallMs = frameWallMs(plan.frame_count, plan);
  const parts = input.segments.map(({ segment, path }) => ({ segment, path }));
  const { times } = await runSwapChild(
    {
      kind: 'stitch',
      videoPath,
      plan,
      segments: parts,
      settings: context.settings,
      outputPath,
      sheetPath,
      wallMs,
    },
    { context, stage: 'stitching', wallMs: wallMs + 30_000 },
  );
  const segments = input.segments.map(({ report }) => report).toSorted((a, b) => a.index - b.index);
  return finishedVideo(
    { videoPath, plan, mode: 'fullbody', segments, times, outputPath, sheetPath },
    context,
  );
}
