import sharp, { type Sharp } from 'sharp';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';
import { probe } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { timeLabel } from './time-label.ts';

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
const gap = 6;
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
  const columns = Math.min(sheet.columns ?? defaultColumns, frames.length);
  await tile(frames, { columns, width, stepMs: durationMs / count }).toFile(sheet.pngPath);
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
  const bytes = Buffer.concat(pieces);
  const frameBytes = order.width * cellHeight * 3;
  const frames = Array.from({ length: Math.floor(bytes.length / frameBytes) }, (_, index) =>
    bytes.subarray(index * frameBytes, (index + 1) * frameBytes),
  );
  if (frames.length === 0) throw new MediaFailure('UNREADABLE', 'No frame of the video could be decoded.');
  return frames.slice(0, order.count);
}

function tile(
  frames: readonly Buffer[],
  grid: { readonly columns: number; readonly width: number; readonly stepMs: number },
): Sharp {
  const rows = Math.ceil(frames.length / grid.columns);
  const cells = frames.flatMap((frame, index) => {
    const left = gap + (index % grid.columns) * (grid.width + gap);
    const top = gap + Math.floor(index / grid.columns) * (cellHeight + gap);
    const raw = { width: grid.width, height: cellHeight, channels: 3 as const };
    const label = timeLabel(grid.stepMs * (index + 0.5));
    return [
      { input: frame, raw, left, top },
      { input: Buffer.from(label), left: left + 4, top: top + 4 },
    ];
  });
  const width = gap + grid.columns * (grid.width + gap);
  const height = gap + rows * (cellHeight + gap);
  return sharp({ create: { width, height, channels: 3, background: '#202020' } })
    .composite(cells)
    .png();
}
