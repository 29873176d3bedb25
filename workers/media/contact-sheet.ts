import { MediaFailure } from '#infra/media/media-failure.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';
import { probe } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { framesIn, writeFrameGrid } from './frame-grid.ts';

export type ContactSheet = {
  readonly videoPath: string;
  readonly pngPath: string;
  readonly frames?: number;
  readonly columns?: number;
};

export type SheetContext = {
  readonly tools: MediaTools;
  readonly taskFolder: string;
  readonly signal: AbortSignal;
};

const defaultFrames = 12;
const defaultColumns = 6;
const cellHeight = 360;
const sheetStartMs = 120_000;
const sheetMsPerVideoMs = 6;

/** Writes a PNG grid of frames, evenly spread over the video, each with its time. Throws `MediaFailure`. */
export async function writeContactSheet(sheet: ContactSheet, context: SheetContext): Promise<void> {
  const media = await probe(sheet.videoPath, context);
  if (media.video === null) throw new MediaFailure('NO_PICTURE', 'There is no picture to show.');
  const durationMs = media.video.durationMs ?? media.durationMs ?? 1_000;
  const count = sheet.frames ?? defaultFrames;
  const { displayWidth, displayHeight } = media.video;
  const width = Math.max(16, Math.round((cellHeight * displayWidth) / displayHeight / 2) * 2);
  const frames = await readFrames(sheet.videoPath, { count, durationMs, width, media }, context);
  const stepMs = durationMs / count;
  await writeFrameGrid(
    frames.map((pixels, index) => ({ pixels, atMs: stepMs * (index + 0.5) })),
    { pngPath: sheet.pngPath, width, height: cellHeight, columns: sheet.columns ?? defaultColumns },
  );
}

type FrameOrder = {
  readonly count: number;
  readonly durationMs: number;
  readonly width: number;
  readonly media: Awaited<ReturnType<typeof probe>>;
};

/** The frames as raw RGB, one decode over the whole video. */
async function readFrames(path: string, order: FrameOrder, context: SheetContext): Promise<Buffer[]> {
  const step = order.durationMs / order.count / 1000;
  // The first frame from half a step on, then one every step; `n` counts what was selected.
  const picking = `select='gte(t,${(step / 2).toFixed(4)}+selected_n*${step.toFixed(4)})'`;
  const pieces: Buffer[] = [];
  await runFfmpeg({
    ...context,
    cwd: context.taskFolder,
    wallMs: sheetStartMs + order.durationMs * sheetMsPerVideoMs,
    args: [
      ...[...guardedInputOptions(order.media.type), '-threads', '2', '-i', inputUrl(path)],
      ...[
        '-map',
        `0:${order.media.video?.index ?? 0}`,
        '-vf',
        `${picking},scale=${order.width}:${cellHeight}`,
      ],
      ...['-fps_mode', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1'],
    ],
    onStdout: (piece) => pieces.push(piece),
  });
  const frames = framesIn(Buffer.concat(pieces), { width: order.width, height: cellHeight });
  if (frames.length === 0) throw new MediaFailure('UNREADABLE', 'No frame of the video could be decoded.');
  return frames.slice(0, order.count);
}
