import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ffmpegArguments } from '#infra/media/ffmpeg-command.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { ProbedMedia, ProbedVideo } from '#infra/media/probe.ts';
import {
  guardedInputOptions,
  inputUrl,
  progressOptions,
  progressReader,
  runFfmpeg,
} from '#infra/media/run-ffmpeg.ts';
import { measureSpeech, type SpeechActivity, windowMs } from '../media/speech-activity.ts';
import { type Span, utterances } from '../media/speech/utterances.ts';
import type { PipelineContext } from './contract.ts';

/** What decoding a source once has shown. */
export type Analysis = {
  /** What was really decoded. */
  readonly durationMs: number;
  readonly shotsMs: readonly number[];
  readonly black: readonly Span[];
  readonly utterances: readonly Span[];
  readonly levelDb: (span: Span) => number;
};

const shotsFile = 'shots.txt';
const blackStartsFile = 'black-starts.txt';
const blackEndsFile = 'black-ends.txt';
const soundFile = 'speech.pcm';

/** Scene scores of 0 to 100: cuts of real films lie above 10, motion below. */
const cutThreshold = 10;
/** Decoding 1080p runs at several times real time on two cores; a hostile file must not run for ever. */
const wallMsPerSourceMs = 4;
const startMs = 180_000;
const speechShare = 0.25;

/**
 * Decodes a source once, small: cuts, black stretches, and the sound for speech and level. Everything lies in
 * files of the task's folder meanwhile, so that hours of material do not fill memory. Throws `MediaFailure`.
 */
export async function analyseSource(
  path: string,
  media: ProbedMedia,
  context: PipelineContext,
): Promise<Analysis> {
  const { video } = media;
  if (video === null) throw new MediaFailure('NO_PICTURE', 'The source has no video picture.');
  const expectedMs = video.durationMs ?? media.durationMs ?? context.maxSourceDurationMs;
  const decodedMs = await decodeSmall(path, media, video, expectedMs, context);
  const durationMs = Math.min(decodedMs, video.durationMs ?? decodedMs);
  const activity = media.audio === null ? silence : await listen(durationMs, context);
  context.onProgress({ stage: 'analysing', fraction: 1 });
  return {
    durationMs,
    shotsMs: await times(context, shotsFile, 'lavfi.scd.time'),
    black: await blackSpans(context, durationMs),
    utterances: utterances(activity).filter((span) => span.endMs <= durationMs),
    levelDb: (span) => meanLevelDb(activity, span),
  };
}

async function decodeSmall(
  path: string,
  media: ProbedMedia,
  video: ProbedVideo,
  expectedMs: number,
  context: PipelineContext,
): Promise<number> {
  let decodedMs = 0;
  await runFfmpeg({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: startMs + Math.min(expectedMs, context.maxSourceDurationMs) * wallMsPerSourceMs,
    args: analysisArguments(path, media, video),
    onStdout: progressReader((outMs) => {
      decodedMs = Math.max(decodedMs, outMs);
      const fraction = Math.min(1, outMs / Math.max(1, expectedMs));
      context.onProgress({ stage: 'analysing', fraction: fraction * (1 - speechShare) });
    }),
  });
  if (decodedMs <= 0)
    throw new MediaFailure('UNREADABLE', 'The video is damaged: no picture could be decoded.');
  return Math.round(decodedMs);
}

/** Shots and black from a small picture, and the sound as 16 kHz mono PCM. */
function analysisArguments(path: string, media: ProbedMedia, video: ProbedVideo): readonly string[] {
  const picture = [
    ...(video.framesPerSecond > 31 ? ['fps=30'] : []),
    'scale=w=320:h=180:flags=fast_bilinear,format=yuv420p',
    `scdet=threshold=${cutThreshold}`,
    'blackdetect=d=0.3:pic_th=0.98:pix_th=0.08',
    printing('lavfi.scd.time', shotsFile),
    printing('lavfi.black_start', blackStartsFile),
    printing('lavfi.black_end', blackEndsFile),
  ];
  return ffmpegArguments((command) => {
    command
      .input(inputUrl(path))
      .inputOptions(...guardedInputOptions(media.type), '-threads', '2', '-skip_loop_filter', 'all')
      .output('-')
      .videoFilters(picture)
      .outputOptions('-map', `0:${video.index}`, '-an', '-sn', '-f', 'null', ...progressOptions);
    if (media.audio === null) return;
    command
      .output(soundFile)
      .outputOptions('-map', `0:${media.audio.index}`, '-vn', '-ac', '1', '-ar', '16000')
      // A sound that starts late must not move forward: speech times are times of the source.
      .audioFilters('aresample=async=1:first_pts=0')
      .outputOptions('-f', 's16le', '-c:a', 'pcm_s16le');
  });
}

function printing(key: string, file: string): string {
  return `metadata=mode=print:key=${key}:file=${file}`;
}

const silence: SpeechActivity = { probabilities: new Float32Array(0), levels: new Float32Array(0) };

async function listen(durationMs: number, context: PipelineContext): Promise<SpeechActivity> {
  const pcmPath = join(context.taskFolder, soundFile);
  try {
    return await measureSpeech({
      ...context,
      pcmPath,
      durationMs,
      onFraction: (fraction) =>
        context.onProgress({ stage: 'analysing', fraction: 1 - speechShare + fraction * speechShare }),
    });
  } finally {
    await rm(pcmPath, { force: true });
  }
}

async function blackSpans(context: PipelineContext, durationMs: number): Promise<readonly Span[]> {
  const starts = await times(context, blackStartsFile, 'lavfi.black_start');
  const ends = await times(context, blackEndsFile, 'lavfi.black_end');
  return starts.map((startMs, index) => ({ startMs, endMs: ends[index] ?? durationMs }));
}

/** The times that a `metadata=print` filter wrote: lines such as `lavfi.scd.time=12.48`. */
async function times(context: PipelineContext, file: string, key: string): Promise<readonly number[]> {
  const text = await readFile(join(context.taskFolder, file), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${key}=`))
    .map((line) => Math.round(Number(line.slice(key.length + 1)) * 1000))
    .filter((atMs) => Number.isFinite(atMs));
}

function meanLevelDb(activity: SpeechActivity, span: Span): number {
  const levels = activity.levels.subarray(
    Math.floor(span.startMs / windowMs),
    Math.ceil(span.endMs / windowMs),
  );
  return levels.length === 0 ? -100 : levels.reduce((sum, level) => sum + level, 0) / levels.length;
}
