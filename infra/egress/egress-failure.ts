/** Why something on the network was not fetched; the retryable ones may pass later. */
export const egressFailureCodes = {
  FORBIDDEN: { retryable: false },
  NOT_FOUND: { retryable: false },
  REFUSED: { retryable: false },
  TOO_LARGE: { retryable: false },
  TOO_MANY_REDIRECTS: { retryable: false },
  UNTRUSTED: { retryable: false },
  UNAVAILABLE: { retryable: true },
  TIME_LIMIT: { retryable: true },
  ABORTED: { retryable: true },
} as const satisfies Readonly<Record<string, { readonly retryable: boolean }>>;

export type EgressFailureCode = keyof typeof egressFailureCodes;

/** Something could not be fetched. `message` is one sentence fit for the client, without any query string. */
export class EgressFailure extends Error {
  override readonly name = 'EgressFailure';
  readonly code: EgressFailureCode;
  readonly retryable: boolean;

  constructor(code: EgressFailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.retryable = egressFailureCodes[code].retryable;
  }
}
