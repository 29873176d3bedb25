import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { probeStoredDuration } from '#infra/sources/stored-duration.ts';
import { urlDuration } from '#infra/sources/url-duration.ts';
import { type Answer, answers } from './answers.ts';
import type { FaceSwapRequest, SwapSource } from './face-swap-request.ts';
import type { HttpService } from './http-service.ts';
import { type FaceImageService, lookAtFaceImage } from './look-at-face-image.ts';
import { refusedSource } from './source-refusal.ts';

/** What a face swap costs: found out from the sources themselves, before anything is charged. */

/** The video's length rounded up, in whole seconds; or why there is none. */
export type Quote = Readonly<{ durationSeconds: number }> | Readonly<{ refused: Answer }>;

/** What it takes to look at sources. */
export type QuoteService = FaceImageService & Pick<HttpService, 'probes' | 'uploads'>;

/**
 * Looks at both sources of a face swap, in its turn and within `PROBE_TIME_LIMIT`: the face image must be one
 * by its content, and an upload must show a face that can be used; the video must say how long it is. The video's
 * fault is told first.
 */
export async function quoteFaceSwap(
  request: FaceSwapRequest,
  teamId: number,
  service: QuoteService,
  signal: AbortSignal,
): Promise<Quote> {
  const stopped = AbortSignal.any([signal, service.uploads.stopped]);
  const patience = AbortSignal.any([stopped, AbortSignal.timeout(service.config.PROBE_TIME_LIMIT)]);
  const quote = await service.probes.take(teamId, patience, () => look(request, teamId, service, stopped));
  return quote ?? { refused: stopped.aborted ? answers.stopping : answers.tooManyProbes };
}

async function look(
  { video, faceImage }: FaceSwapRequest,
  teamId: number,
  service: QuoteService,
  signal: AbortSignal,
): Promise<Quote> {
  const folder = await mkdtemp(join(service.config.WORK_DIR ?? tmpdir(), 'clipledger-probe-'));
  // Once the video is refused, nobody asks for the image.
  const isRefused = new AbortController();
  const faceLook = { teamId, folder, signal: AbortSignal.any([signal, isRefused.signal]) };
  try {
    const [quote, wrong] = await Promise.all([
      lookAtVideo(video, folder, service, signal).then((found) => {
        if ('refused' in found) isRefused.abort();
        return found;
      }),
      lookAtFaceImage(faceImage, faceLook, service),
    ]);
    return 'refused' in quote || wrong === undefined ? quote : { refused: wrong };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function lookAtVideo(
  video: SwapSource,
  folder: string,
  service: QuoteService,
  signal: AbortSignal,
): Promise<Quote> {
  const field = 'url' in video ? 'video_url' : 'video';
  try {
    const durationMs = await durationOf(video, folder, service, signal);
    if (durationMs === null) return { refused: answers.unusableSource(unknownLength) };
    const limitMs = service.config.FACE_SWAP_MAX_DURATION;
    if (durationMs > limitMs) return { refused: answers.invalid([tooLong(field, durationMs, limitMs)]) };
    return { durationSeconds: Math.ceil(durationMs / 1_000) };
  } catch (error) {
    return { refused: refusedSource(error, field, service.log) };
  }
}

function durationOf(
  video: SwapSource,
  folder: string,
  { config, sources, storage }: QuoteService,
  signal: AbortSignal,
): Promise<number | null> {
  const within = { folder, signal, timeoutMs: config.PROBE_TIME_LIMIT };
  if ('file' in video)
    return probeStoredDuration({ ...within, video: video.file, storage, tools: sources.tools });
  return urlDuration({ ...within, url: video.url, sources, maxBytes: config.FACE_SWAP_MAX_BYTES });
}

const unknownLength =
  'The platform does not say how long the video is, so its price is not known beforehand: give a direct link to the video file, or upload it.';

function tooLong(path: string, durationMs: number, limitMs: number) {
  const seconds = (ms: number) => `${ms / 1_000} s`;
  return {
    path,
    message: `The video is ${seconds(durationMs)} long; a face swap takes at most ${seconds(limitMs)}.`,
  };
}
