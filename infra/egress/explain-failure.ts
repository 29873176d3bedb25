import { EgressFailure } from './egress-failure.ts';

export type FailedFetch = {
  readonly url: string;
  /** What was fetched, for messages: `video`, `face image`, `music`. */
  readonly what: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** The caller's own signal, not joined with the time limit. */
  readonly signal: AbortSignal;
  readonly timedOut: boolean;
};

/** TLS faults that no second try will mend. */
const certificateFaults =
  /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|HOSTNAME_MISMATCH)/;

/** Any error of a fetch as one sentence for the client and the knowledge whether it may pass. */
export function explainFailure(error: unknown, fetch: FailedFetch): EgressFailure {
  if (error instanceof EgressFailure) return error;
  const host = URL.canParse(fetch.url) ? new URL(fetch.url).hostname : 'the host';
  const failed = (code: EgressFailure['code'], sentence: string) => new EgressFailure(code, sentence, error);
  if (fetch.signal.aborted) return failed('ABORTED', `Fetching the ${fetch.what} was stopped.`);
  if (fetch.timedOut) {
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

/** The failure of what is larger than its limit. */
export function tooLarge(fetch: Pick<FailedFetch, 'what' | 'maxBytes'>): EgressFailure {
  const megabytes = Math.floor(fetch.maxBytes / 1_000_000);
  return new EgressFailure('TOO_LARGE', `The ${fetch.what} is larger than the limit of ${megabytes} MB.`);
}
