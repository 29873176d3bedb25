import { boundedCopy, type CopiedFile } from '../bounded-copy.ts';
import type { Resolve } from './checked-address.ts';
import { EgressFailure } from './egress-failure.ts';
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
    throw egressFailure(error, fetch, limit.aborted);
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

function announcedLength(response: GuardedResponse): number | undefined {
  const text = response.headers['content-length'];
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function refuseStatus(what: string, response: GuardedResponse): void {
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

function tooLarge(fetch: FetchToFile): EgressFailure {
  const megabytes = Math.floor(fetch.maxBytes / 1_000_000);
  return new EgressFailure('TOO_LARGE', `The ${fetch.what} is larger than the limit of ${megabytes} MB.`);
}

/** TLS faults that no second try will mend. */
const certificateFaults =
  /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|HOSTNAME_MISMATCH)/;

function egressFailure(error: unknown, fetch: FetchToFile, timedOut: boolean): EgressFailure {
  if (error instanceof EgressFailure) return error;
  const host = URL.canParse(fetch.url) ? new URL(fetch.url).hostname : 'the host';
  const failed = (code: EgressFailure['code'], sentence: string) => new EgressFailure(code, sentence, error);
  if (fetch.signal.aborted) return failed('ABORTED', `Fetching the ${fetch.what} was stopped.`);
  if (timedOut) {
    return failed(
      'TIME_LIMIT',
      `Fetching the ${fetch.what} took longer than ${Math.round(fetch.timeoutMs / 1000)} s.`,
    );
  }
  const name = error instanceof Error ? error.name : '';
  const code = errorCode(error);
  if (name === 'CopyTooLarge') return tooLarge(fetch);
  if (name === 'CopyStalled' || /TIMEOUT|ETIMEDOUT/.test(code)) {
    return failed('TIME_LIMIT', `The ${fetch.what}'s server ${host} stopped answering.`);
  }
  if (code === 'ENOTFOUND') return failed('NOT_FOUND', `The host ${host} does not exist.`);
  if (certificateFaults.test(code)) {
    return failed('UNTRUSTED', `The TLS certificate of ${host} is not valid.`);
  }
  return failed('UNAVAILABLE', `The ${fetch.what} could not be fetched: the connection to ${host} failed.`);
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
