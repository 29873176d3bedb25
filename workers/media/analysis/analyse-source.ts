import { MediaFailure } from '#infra/media/media-failure.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';
import type { ProbedMedia } from '#infra/media/probe.ts';
import { bundledSpeech, type SpeechSettings } from '../speech/speech-settings.ts';
import {
  analysisVersion,
  type PictureAnalysis,
  pictureAnalysisSchema,
  type SoundAnalysis,
  type SourceAnalysis,
  soundAnalysisSchema,
} from './analysis-schema.ts';
import type { PictureOrder } from './measure-picture.ts';
import type { SoundOrder } from './measure-sound.ts';
import { pictureSampling } from './picture-sampling.ts';
import { runMeasuringChild } from './run-measuring-child.ts';

export type AnalysisContext = {
  readonly tools: MediaTools;
  /** The operator's own models (`MODELS_DIR`). */
  readonly modelsFolder: string | undefined;
  /** The speech model (`SPEECH_MODEL`), the bundled one unless given. */
  readonly speech?: SpeechSettings | undefined;
  /** A folder of the task's own. */
  readonly taskFolder: string;
  readonly signal: AbortSignal;
  /** How much of the analysis is done, 0 to 1. */
  readonly onFraction: (fraction: number) => void;
  readonly maxSourceDurationMs: number;
};

/** Of the work, as a rule; sound is a quarter of the picture's. */
const pictureShare = 0.8;
/** Two idle cores take 0.1 to 0.3 of the source's time; shared ones several times that, a hostile file for ever. */
const pictureWallMsPerMs = 6;
const soundWallMsPerMs = 2;
/** A large Whisper model on one shared core. */
const whisperWallMsPerMs = 12;
const startMs = 180_000;

/**
 * Looks at a source once: shots, motion, black, faces; speech, sentences, loudness. Picture and sound are
 * measured side by side, each in a child process, and neither keeps more than its measures in memory.
 * Throws `MediaFailure`.
 */
export async function analyseSource(
  path: string,
  media: ProbedMedia,
  context: AnalysisContext,
): Promise<SourceAnalysis> {
  const { video } = media;
  if (video === null) throw new MediaFailure('NO_PICTURE', 'The source has no video picture.');
  const headersMs = video.durationMs ?? media.durationMs ?? context.maxSourceDurationMs;
  const expectedMs = Math.min(headersMs, context.maxSourceDurationMs);
  const progress = sharedProgress(context.onFraction, media.audio === null ? 1 : pictureShare);
  const stopping = new AbortController();
  const child = { ...context, expectedMs, signal: AbortSignal.any([context.signal, stopping.signal]) };
  const [picture, sound] = await bothOrNeither(stopping, [
    lookAtPicture(path, media, { ...child, onFraction: progress.picture }),
    listenToSound(path, media, { ...child, onFraction: progress.sound }),
  ]);
  return {
    version: analysisVersion,
    duration_ms: Math.min(picture.duration_ms, video.durationMs ?? picture.duration_ms),
    frames_per_second: video.framesPerSecond,
    display_width: video.displayWidth,
    display_height: video.displayHeight,
    picture,
    sound,
  };
}

type ChildContext = AnalysisContext & { readonly expectedMs: number };

async function lookAtPicture(
  path: string,
  { type, video }: ProbedMedia,
  context: ChildContext,
): Promise<PictureAnalysis> {
  if (video === null) throw new MediaFailure('NO_PICTURE', 'The source has no video picture.');
  const sampling = pictureSampling(video);
  const wallMs = Math.round(startMs + context.expectedMs * pictureWallMsPerMs);
  const order: PictureOrder = { path, type, video, sampling, wallMs };
  const expectedFrames = Math.max(1, (context.expectedMs / 1000) * sampling.framesPerSecond);
  return runMeasuringChild({
    ...context,
    main: 'measure-picture-main.ts',
    order,
    schema: pictureAnalysisSchema,
    onDone: (frames) => context.onFraction(frames / expectedFrames),
  });
}

async function listenToSound(
  path: string,
  { type, audio }: ProbedMedia,
  context: ChildContext,
): Promise<SoundAnalysis | null> {
  if (audio === null) return null;
  const { speech = bundledSpeech } = context;
  const wallMsPerMs = speech.whisperFolder === null ? soundWallMsPerMs : whisperWallMsPerMs;
  const wallMs = Math.round(startMs + context.expectedMs * wallMsPerMs);
  const order: SoundOrder = {
    ...{ path, type, streamIndex: audio.index, wallMs },
    speech,
    mostMs: context.maxSourceDurationMs,
  };
  return runMeasuringChild({
    ...context,
    main: 'measure-sound-main.ts',
    order,
    schema: soundAnalysisSchema,
    onDone: (ms) => context.onFraction(ms / context.expectedMs),
  });
}

function sharedProgress(
  onFraction: (fraction: number) => void,
  share: number,
): { readonly picture: (fraction: number) => void; readonly sound: (fraction: number) => void } {
  let [picture, sound] = [0, 0];
  const report = (): void => onFraction(picture * share + sound * (1 - share));
  return {
    picture: (fraction) => {
      picture = Math.min(1, fraction);
      report();
    },
    sound: (fraction) => {
      sound = Math.min(1, fraction);
      report();
    },
  };
}

/** When one of two fails, the other is stopped, and both have ended before the failure is thrown. */
async function bothOrNeither<A, B>(
  stopping: AbortController,
  work: readonly [Promise<A>, Promise<B>],
): Promise<[A, B]> {
  const ended = await Promise.allSettled(
    work.map((each) =>
      each.catch((error: unknown) => {
        if (!stopping.signal.aborted) stopping.abort(error);
        throw error;
      }),
    ),
  );
  if (ended.some(({ status }) => status === 'rejected')) throw stopping.signal.reason;
  return Promise.all(work);
}
