import { z } from 'zod';
import { type EgressAllow, forbiddenOnItsFace } from '../egress/forbidden-url.ts';
import { PlatformFailure } from './platform-failure.ts';
import { type PlatformContext, runYtDlp } from './run-yt-dlp.ts';

/** What a hosting platform says of one finished video. */
export type PlatformVideo = {
  readonly title: string;
  /** As the platform says, whole seconds on most; null where it does not. */
  readonly durationMs: number | null;
  /** For example `Youtube`. */
  readonly extractor: string;
  /** The chosen formats, one with picture and sound or one of each. */
  readonly formatIds: readonly string[];
  /** What yt-dlp needs to download just this. */
  readonly infoJson: Buffer;
};

export type PlatformQuestion = {
  readonly url: string;
  readonly timeoutMs: number;
  /** A longer video is refused. */
  readonly maxDurationMs: number;
};

const maxInfoBytes = 32 * 1024 ** 2;
const maxPageBytes = 64 * 1024 ** 2;

const usable = "[width<=?1920][height<=?1920][protocol~='^(https?|m3u8_native|http_dash_segments)$']";

/** Up to 1080p whichever way up, H.264 and AAC where they are; what is joined afterwards comes as two formats. */
const formats = [
  `bv*[vcodec^=avc1]${usable}+ba[ext=m4a]${usable}`,
  `b[vcodec^=avc1]${usable}`,
  `bv*${usable}+ba${usable}`,
  `b${usable}`,
  `bv${usable}`,
].join('/');

/**
 * Asks a hosting platform, through yt-dlp, what a URL shows. Playlists, live streams and videos that are too
 * long are refused. Throws `PlatformFailure`.
 */
export async function describePlatformVideo(
  question: PlatformQuestion,
  context: PlatformContext,
): Promise<PlatformVideo> {
  const infoJson = await runYtDlp({
    context,
    args: [
      '--dump-single-json',
      '--format',
      formats,
      '--format-sort',
      'res:1080',
      '--',
      tidyUrl(question.url, context.allow),
    ],
    wallMs: question.timeoutMs,
    maxBytes: maxPageBytes,
    maxOutputBytes: maxInfoBytes,
  });
  return acceptedVideo(infoJson, question);
}

/** A URL as we read it ourselves, so that both sides mean the same host. */
export function tidyUrl(url: string, allow: EgressAllow): string {
  const wrong = forbiddenOnItsFace(url, allow);
  if (wrong !== undefined) throw new PlatformFailure('FORBIDDEN', wrong);
  return new URL(url).href;
}

const format = z.object({ format_id: z.string().max(200) });
const info = z.object({
  _type: z.string().default('video'),
  title: z.string().nullish(),
  duration: z.number().nullish(),
  extractor_key: z.string().default('unknown'),
  is_live: z.boolean().nullish(),
  live_status: z.string().nullish(),
  format_id: z.string().max(400).nullish(),
  requested_formats: z.array(format).min(1).max(2).nullish(),
});

function acceptedVideo(infoJson: Buffer, question: PlatformQuestion): PlatformVideo {
  const said = parseInfo(infoJson);
  if (said._type !== 'video') {
    throw new PlatformFailure('PLAYLIST', 'The URL is a playlist or a channel; give the URL of one video.');
  }
  if (said.is_live === true || ['is_live', 'is_upcoming', 'post_live'].includes(said.live_status ?? '')) {
    throw new PlatformFailure(
      'LIVE',
      'The URL is a live stream or a premiere that has not ended; give a finished video.',
    );
  }
  const durationMs = said.duration == null || said.duration <= 0 ? null : Math.round(said.duration * 1000);
  if (durationMs !== null && durationMs > question.maxDurationMs)
    throw tooLong(durationMs, question.maxDurationMs);
  const formatIds = said.requested_formats?.map((chosen) => chosen.format_id) ?? [said.format_id ?? ''];
  if (formatIds.includes(''))
    throw new PlatformFailure('UNREADABLE', 'The platform names no video at this URL.');
  return {
    title: (said.title ?? '').slice(0, 500),
    durationMs,
    extractor: said.extractor_key,
    formatIds,
    infoJson,
  };
}

function parseInfo(infoJson: Buffer): z.infer<typeof info> {
  try {
    return info.parse(JSON.parse(infoJson.toString('utf8')));
  } catch (error) {
    throw new PlatformFailure('UNREADABLE', 'The platform’s answer about the video makes no sense.', {
      cause: error,
    });
  }
}

function tooLong(durationMs: number, maxDurationMs: number): PlatformFailure {
  const seconds = Math.ceil(durationMs / 1000);
  return new PlatformFailure(
    'TOO_LONG',
    `The video is ${seconds} s long; the limit is ${Math.floor(maxDurationMs / 1000)} s.`,
  );
}
