import { join } from 'node:path';
import { EgressFailure, type EgressFailureCode } from '#infra/egress/egress-failure.ts';
import { fetchToFile } from '#infra/egress/fetch-to-file.ts';
import { MediaFailure, type MediaFailureCode } from '#infra/media/media-failure.ts';
import { notMedia } from '#infra/media/probe.ts';
import { sniffFile } from '#infra/media/sniff.ts';
import { fetchPlatformVideo } from '#infra/sources/fetch-platform-video.ts';
import { PlatformFailure, type PlatformFailureCode } from '#infra/sources/platform-failure.ts';
import { platformContext, type SourceAccess } from '#infra/sources/source-access.ts';
import type { FetchContext, FetchedSource, FetchInput } from './contract.ts';

const idleTimeoutMs = 30_000;

/**
 * Fetches a job's source by its URL into the task's folder, from a hosting platform or by a direct link; it must
 * be a video by its content. Throws `MediaFailure`.
 */
export async function fetchSource(
  input: FetchInput,
  context: FetchContext,
  sources: SourceAccess,
): Promise<FetchedSource> {
  const path = join(context.taskFolder, 'source');
  context.onProgress({ stage: 'fetching', fraction: 0 });
  try {
    const isPlatform = await sources.urls.isPlatformUrl(input.url, context.signal);
    const title = await (isPlatform ? fromPlatform : fromDirectLink)(input, path, context, sources);
    const type = await sniffFile(path);
    if (type.kind !== 'video') throw notMedia(type);
    context.onProgress({ stage: 'fetching', fraction: 1 });
    return { path, contentType: type.contentType, title };
  } catch (error) {
    if (error instanceof EgressFailure) throw egressMeaning(error);
    throw error instanceof PlatformFailure ? platformMeaning(error) : error;
  }
}

/** The last part of a URL's path: what the source is called in titles where nobody gives it a title. */
export function sourceNameOf(url: string): string {
  return URL.canParse(url) ? (new URL(url).pathname.split('/').at(-1) ?? '') : '';
}

/** The video's title, as the platform gives it. */
async function fromPlatform(
  { url, timeoutMs, maxBytes }: FetchInput,
  path: string,
  context: FetchContext,
  sources: SourceAccess,
): Promise<string> {
  const { taskFolder: folder, signal, maxSourceDurationMs: maxDurationMs } = context;
  const video = await fetchPlatformVideo(
    { url, path, timeoutMs, maxDurationMs, maxBytes },
    platformContext(sources, { folder, signal }),
  );
  return video.title;
}

async function fromDirectLink(
  { url, timeoutMs, maxBytes }: FetchInput,
  path: string,
  context: FetchContext,
  { allow }: SourceAccess,
): Promise<null> {
  const { signal } = context;
  const onProgress = (bytes: number, total: number | undefined) => {
    if (total !== undefined) context.onProgress({ stage: 'fetching', fraction: Math.min(1, bytes / total) });
  };
  const limits = { maxBytes, timeoutMs, idleTimeoutMs };
  await fetchToFile({ url, path, what: 'video', ...limits, allow, signal, onProgress });
  return null;
}

const egressCodes: Readonly<Record<EgressFailureCode, MediaFailureCode>> = {
  FORBIDDEN: 'SOURCE_FORBIDDEN',
  NOT_FOUND: 'SOURCE_NOT_FOUND',
  REFUSED: 'SOURCE_REFUSED',
  TOO_LARGE: 'SOURCE_TOO_LARGE',
  TOO_MANY_REDIRECTS: 'SOURCE_REFUSED',
  UNTRUSTED: 'SOURCE_REFUSED',
  UNAVAILABLE: 'SOURCE_UNREACHABLE',
  TIME_LIMIT: 'SOURCE_UNREACHABLE',
  ABORTED: 'ABORTED',
};

/** What a failed fetch means for a job. */
export function egressMeaning(failure: EgressFailure): MediaFailure {
  return new MediaFailure(egressCodes[failure.code], failure.message, { cause: failure });
}

const platformCodes: Readonly<Record<PlatformFailureCode, MediaFailureCode>> = {
  NOT_A_PLATFORM: 'SOURCE_REFUSED',
  PLAYLIST: 'SOURCE_REFUSED',
  LIVE: 'SOURCE_REFUSED',
  TOO_LONG: 'SOURCE_TOO_LONG',
  TOO_LARGE: 'SOURCE_TOO_LARGE',
  PRIVATE: 'SOURCE_REFUSED',
  AGE_RESTRICTED: 'SOURCE_REFUSED',
  REGION_BLOCKED: 'SOURCE_REFUSED',
  PAID: 'SOURCE_REFUSED',
  LOGIN_REQUIRED: 'SOURCE_REFUSED',
  PROTECTED: 'SOURCE_REFUSED',
  NO_SUITABLE_FORMAT: 'SOURCE_REFUSED',
  UNAVAILABLE: 'SOURCE_NOT_FOUND',
  FORBIDDEN: 'SOURCE_FORBIDDEN',
  UNREADABLE: 'SOURCE_REFUSED',
  RATE_LIMITED: 'SOURCE_UNREACHABLE',
  NETWORK: 'SOURCE_UNREACHABLE',
  TIME_LIMIT: 'SOURCE_UNREACHABLE',
  TOOL_BROKEN: 'SOURCE_UNREACHABLE',
  NOT_SET_UP: 'SOURCE_UNREACHABLE',
  ABORTED: 'ABORTED',
};

function platformMeaning(failure: PlatformFailure): MediaFailure {
  const { code, message, detail } = failure;
  const about = { cause: failure, ...(detail === undefined ? {} : { detail }) };
  return new MediaFailure(platformCodes[code], message, about);
}
