import { join } from 'node:path';
import { EgressFailure, type EgressFailureCode } from '#infra/egress/egress-failure.ts';
import { fetchToFile } from '#infra/egress/fetch-to-file.ts';
import { MediaFailure, type MediaFailureCode } from '#infra/media/media-failure.ts';
import { notMedia } from '#infra/media/probe.ts';
import { sniffFile } from '#infra/media/sniff.ts';
import type { FetchContext, FetchedSource, FetchInput } from './contract.ts';

const idleTimeoutMs = 30_000;

/** Fetches a job's source by its URL into the task's folder; it must be a video by its content. Throws `MediaFailure`. */
export async function fetchSource(input: FetchInput, context: FetchContext): Promise<FetchedSource> {
  const path = join(context.taskFolder, 'source');
  context.onProgress({ stage: 'fetching', fraction: 0 });
  try {
    const copied = await fetchToFile({
      url: input.url,
      path,
      what: 'video',
      maxBytes: input.maxBytes,
      timeoutMs: input.timeoutMs,
      idleTimeoutMs,
      allow: input.egressAllow,
      signal: context.signal,
      onProgress: (bytes, total) => {
        if (total !== undefined)
          context.onProgress({ stage: 'fetching', fraction: Math.min(1, bytes / total) });
      },
    });
    const type = await sniffFile(path);
    if (type.kind !== 'video') throw notMedia(type);
    context.onProgress({ stage: 'fetching', fraction: 1 });
    return { path, ...copied, contentType: type.contentType };
  } catch (error) {
    throw error instanceof EgressFailure ? mediaFailure(error) : error;
  }
}

/** The last part of a URL's path: what the source is called in titles. */
export function sourceNameOf(url: string): string {
  return URL.canParse(url) ? (new URL(url).pathname.split('/').at(-1) ?? '') : '';
}

const codes: Readonly<Record<EgressFailureCode, MediaFailureCode>> = {
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

function mediaFailure(failure: EgressFailure): MediaFailure {
  return new MediaFailure(codes[failure.code], failure.message, { cause: failure });
}
