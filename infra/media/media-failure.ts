/**
 * Why work on a video came to nothing. `retryable` codes may pass when tried again on this or another
 * machine; the others lie in the material or the request and never will.
 */
export const mediaFailureCodes = {
  SOURCE_FORBIDDEN: { retryable: false },
  SOURCE_NOT_FOUND: { retryable: false },
  SOURCE_REFUSED: { retryable: false },
  SOURCE_UNREACHABLE: { retryable: true },
  SOURCE_TOO_LARGE: { retryable: false },
  SOURCE_TOO_LONG: { retryable: false },
  NOT_A_VIDEO: { retryable: false },
  UNREADABLE: { retryable: false },
  NO_PICTURE: { retryable: false },
  NOT_AN_IMAGE: { retryable: false },
  FACE_NOT_USABLE: { retryable: false },
  NO_FACE: { retryable: false },
  PICTURE_TOO_LARGE: { retryable: false },
  TOO_SHORT: { retryable: false },
  MUSIC_UNUSABLE: { retryable: false },
  NOT_SUPPORTED: { retryable: false },
  TIME_LIMIT: { retryable: true },
  MEMORY_LIMIT: { retryable: true },
  RESULT_WRONG: { retryable: true },
  TOOL_BROKEN: { retryable: true },
  ABORTED: { retryable: true },
} as const satisfies Readonly<Record<string, { readonly retryable: boolean }>>;

export type MediaFailureCode = keyof typeof mediaFailureCodes;

/**
 * Media work failed. `message` is one sentence for the client (no paths, addresses or tool output);
 * `detail` is for the log.
 */
export class MediaFailure extends Error {
  override readonly name = 'MediaFailure';
  readonly code: MediaFailureCode;
  readonly retryable: boolean;
  readonly detail: string | undefined;

  constructor(code: MediaFailureCode, message: string, about: { detail?: string; cause?: unknown } = {}) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause });
    this.code = code;
    this.retryable = mediaFailureCodes[code].retryable;
    this.detail = about.detail;
  }
}
