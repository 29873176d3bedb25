import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { ProbedVideo } from '#infra/media/probe.ts';
import { framesIn, writeFrameGrid } from '../media/frame-grid.ts';
import { playedMs } from './clip-timeline.ts';
import type { PlannedClip } from './contract.ts';
import { lookHeight, lookWidth } from './picture-graph.ts';
import { lookFile } from './render-command.ts';
import { sheetMoments } from './sheet-moments.ts';
import { sourceDrawing } from './source-drawing.ts';

/** Frames of the clip itself on its sheet, in pixels. */
export const clipFrameSize = { width: 202, height: 360 } as const;

const clipColumns = 6;
const sourceColumns = 4;

/** Writes the sheet of a clip's own frames (raw RGB, as the check decoded them) and returns its path. */
export async function writeClipSheet(
  clip: PlannedClip,
  frames: readonly Buffer[],
  folder: string,
): Promise<string> {
  const pngPath = join(folder, `clip-${clip.item}.png`);
  const moments = sheetMoments(playedMs(clip.cuts));
  const timed = frames.map((pixels, index) => ({ pixels, atMs: moments[index] ?? 0 }));
  await writeFrameGrid(timed, { pngPath, ...clipFrameSize, columns: clipColumns });
  return pngPath;
}

/**
 * Writes the sheet of the source's frames that the rendering left in the folder, with what the plan sees in them,
 * and returns its path. Times are the clip's.
 */
export async function writeSourceSheet(
  clip: PlannedClip,
  video: ProbedVideo,
  folder: string,
): Promise<string> {
  const size = { width: lookWidth(video), height: lookHeight };
  const rawPath = join(folder, lookFile);
  const frames = framesIn(await readFile(rawPath), size);
  await rm(rawPath);
  if (frames.length === 0) throw new MediaFailure('RESULT_WRONG', 'No frame of the source was shown.');
  const pngPath = join(folder, `clip-${clip.item}.source.png`);
  const shown = { width: video.displayWidth, height: video.displayHeight };
  const moments = sheetMoments(playedMs(clip.cuts));
  const drawn = frames.map((pixels, index) => {
    const clipMs = moments[index] ?? 0;
    return { pixels, atMs: clipMs, drawing: sourceDrawing(clip, { index, clipMs, size, shown }) };
  });
  await writeFrameGrid(drawn, { pngPath, ...size, columns: sourceColumns });
  return pngPath;
}
