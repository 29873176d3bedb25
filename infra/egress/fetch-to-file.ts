import { boundedCopy, type CopiedFile } from '../bounded-copy.ts';
import type { Resolve } from './checked-address.ts';
import { EgressFailure } from './egress-failure.ts';
import { explainFailure, tooLarge } from './explain-failure.ts';
import type { EgressAllow } from './forbidden-url.ts';
import { type GuardedResponse, guardedRequest } from './guarded-request.ts';

export type FetchToFile = {
  readonly url: string;
  /** A new file; its folder belongs to the caller. */
  readonly path: string;
  /** What is fetched, for messages: `video`, `face image`, `music`. */
  readonly what: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly allow: EgressAllow;
  readonly signal: AbortSignal;
  /** `total` is known only where the server says it. */
  readonly onProgress?: (bytes: number, total: number | undefined) => void;
  readonly resolve?: Resolve;
};

/**
 * Fetches a stranger's URL into a file through the egress guard, within limits of size and time. Servers
 * that know neither ranges nor lengths are fine. Fails only with `EgressFailure`.
 */
export async function fetchToFile(fetch: FetchToFile): Promise<CopiedFile> {
  const limit = AbortSignal.timeout(fetch.timeoutMs);
  const signal = AbortSignal.any([limit, fetch.signal]);
  try {
    const response = await guardedRequest({ ...fetch, signal });
    try {
      return await saveBody(fetch, response, signal);
    } finally {
      await response.close();
    }
  } catch (error) {
    throw explainFailure(error, { ...fetch, timedOut: limit.aborted });
  }
}

async function saveBody(
  fetch: FetchToFile,
  response: GuardedResponse,
  signal: AbortSignal,
): Promise<CopiedFile> {
  refuseStatus(fetch.what, response);
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new EgressFailure(
      'REFUSED',
      `The ${fetch.what}'s server sends it compressed (${encoding}), which is not supported.`,
    );
  }
  const total = announcedLength(response);
  if (total !== undefined && total > fetch.maxBytes) throw tooLarge(fetch);
  return boundedCopy({
    from: response.body,
    toPath: fetch.path,
    maxBytes: fetch.maxBytes,
    idleTimeoutMs: fetch.idleTimeoutMs,
    signal,
    onBytes: (bytes) => fetch.onProgress?.(bytes, total),
  });
}

/** How long a response says it is, where it does. */
export function announcedLength(response: GuardedResponse): number | undefined {
  const text = response.headers['content-length'];
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Throws the failure that any other status than 200 means. */
export function refuseStatus(what: string, response: GuardedResponse): void {
  const { status } = response;
  const host = response.url.hostname;
  if (status === 200) return;
  if (status === 404 || status === 410) {
    throw new EgressFailure('NOT_FOUND', `There is no ${what} at this URL: ${host} answered ${status}.`);
  }
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    throw new EgressFailure('UNAVAILABLE', `The ${what} could not be fetched: ${host} answered ${status}.`);
  }
  throw new EgressFailure('REFUSED', `The ${what} could not be fetched: ${host} answered ${status}.`);
}
