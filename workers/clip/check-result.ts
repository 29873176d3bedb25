import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { type ProbedMedia, probe } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { framesIn } from '../media/frame-grid.ts';
import { playedMs } from './clip-timeline.ts';
import type { ClipReport, PipelineContext, PlannedClip } from './contract.ts';
import { type MeasuredLoudness, parseEbur128 } from './loudness.ts';
import { clipHeight, clipWidth } from './render-order.ts';
import { sheetMoments } from './sheet-moments.ts';
import { clipFrameSize } from './sheets.ts';

export type CheckedClip = {
  readonly bytes: number;
  readonly durationMs: number;
  /** Raw RGB of `clipFrameSize`, at the moments that the clip's sheet shows. */
  readonly frames: readonly Buffer[];
  readonly report: Pick<
    ClipReport,
    'frames_per_second' | 'loudness_lufs' | 'true_peak_dbfs' | 'black_ms' | 'audio_minus_video_ms'
  >;
};

const durationToleranceMs = 250;
const syncToleranceMs = 100;
/** Encoding blurs the borders of black stretches a little. */
const blackToleranceMs = 400;
/** One small decode of the clip; on a busy machine it may take several times the clip's own length. */
const checkStartMs = 120_000;
const checkMsPerClipMs = 6;
const blackFile = 'result-black.txt';

/**
 * Measures a rendered clip and refuses what must not reach a customer: wrong size or streams, a wrong length,
 * sound beside the picture, black that was not in the source. Throws `MediaFailure` (`RESULT_WRONG`).
 */
export async function checkResult(
  path: string,
  clip: PlannedClip,
  context: PipelineContext,
): Promise<CheckedClip> {
  const media = await probe(path, context);
  const plannedMs = playedMs(clip.cuts);
  const { loudness, blackMs, frames } = await decodeWhole(path, { media, plannedMs }, context);
  const durationMs = media.video?.durationMs ?? 0;
  const offsetMs = (media.audio?.durationMs ?? 0) - durationMs;
  const wrong = [
    media.video?.codec === 'h264' && media.audio?.codec === 'aac' ? '' : 'streams are missing',
    media.video?.displayWidth === clipWidth && media.video.displayHeight === clipHeight
      ? ''
      : 'the size is wrong',
    media.video?.pixelFormat === 'yuv420p' ? '' : 'the pixel format is wrong',
    Math.abs(durationMs - plannedMs) <= durationToleranceMs
      ? ''
      : `it lasts ${durationMs} ms, not ${plannedMs}`,
    Math.abs(offsetMs) <= syncToleranceMs ? '' : `sound and picture differ by ${offsetMs} ms`,
    blackMs <= mostBlackMs(clip) ? '' : `${blackMs} ms of it are black, not ${clip.black_ms}`,
  ].filter((fault) => fault !== '');
  if (wrong.length > 0) {
    throw new MediaFailure('RESULT_WRONG', 'The rendered clip did not pass its check.', {
      detail: wrong.join('; '),
    });
  }
  return {
    bytes: (await stat(path)).size,
    durationMs,
    frames,
    report: {
      frames_per_second: media.video?.framesPerSecond ?? 0,
      loudness_lufs: loudness.lufs,
      true_peak_dbfs: loudness.truePeakDbfs,
      black_ms: blackMs,
      audio_minus_video_ms: offsetMs,
    },
  };
}

/** A part of the picture may be black where the whole is not: then black says nothing. */
function mostBlackMs({ black_ms, camera }: PlannedClip): number {
  const showsAll = camera.scenes.every(({ layout }) => layout.kind === 'blurred');
  return showsAll ? black_ms + blackToleranceMs : Number.POSITIVE_INFINITY;
}

type Decoded = {
  readonly loudness: MeasuredLoudness;
  readonly blackMs: number;
  readonly frames: readonly Buffer[];
};

/** One decode of the clip for all that is looked at. */
async function decodeWhole(
  path: string,
  { media, plannedMs }: { readonly media: ProbedMedia; readonly plannedMs: number },
  context: PipelineContext,
): Promise<Decoded> {
  const durationMs = media.video?.durationMs ?? 0;
  const pieces: Buffer[] = [];
  const stderr = await runFfmpeg({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: checkStartMs + durationMs * checkMsPerClipMs,
    args: [
      ...['-v', 'info', ...guardedInputOptions(media.type), '-threads', '2', '-i', inputUrl(path)],
      ...['-filter_complex', checkGraph(media, plannedMs)],
      ...['-map', '[frames]', '-fps_mode', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1'],
      ...['-map', '[small]', ...(media.audio === null ? [] : ['-map', '[heard]']), '-f', 'null', '-'],
    ],
    onStdout: (piece) => pieces.push(piece),
  });
  const black = await readFile(join(context.taskFolder, blackFile), 'utf8').catch(() => '');
  return {
    loudness: parseEbur128(stderr),
    blackMs: blackTime(black, durationMs),
    frames: framesIn(Buffer.concat(pieces), clipFrameSize),
  };
}

function checkGraph(media: ProbedMedia, plannedMs: number): string {
  const rate = media.video?.framesPerSecond ?? 30;
  const picked = sheetMoments(plannedMs).map((ms) => `eq(n\\,${Math.floor((ms / 1000) * rate + 1e-6)})`);
  const { width, height } = clipFrameSize;
  return [
    `[0:${media.video?.index ?? 0}]split[all][some]`,
    `[some]select='${picked.join('+')}',scale=${width}:${height}[frames]`,
    `[all]scale=270:480:flags=fast_bilinear,blackdetect=d=0.1:pic_th=0.99:pix_th=0.06,metadata=mode=print:file=${blackFile}[small]`,
    ...(media.audio === null ? [] : [`[0:${media.audio.index}]ebur128=framelog=verbose:peak=true[heard]`]),
  ].join(';');
}

/** The sum of black stretches in blackdetect's `lavfi.black_start=…` and `lavfi.black_end=…` lines. */
function blackTime(text: string, durationMs: number): number {
  let total = 0;
  let startMs: number | undefined;
  for (const [, edge, seconds] of text.matchAll(/lavfi\.black_(start|end)=([\d.]+)/g)) {
    const atMs = Number(seconds) * 1000;
    if (edge === 'start') startMs = atMs;
    else if (startMs !== undefined) {
      total += atMs - startMs;
      startMs = undefined;
    }
  }
  return Math.round(startMs === undefined ? total : total + durationMs - startMs);
}
