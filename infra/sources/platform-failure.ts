/** Why a video was not had from a hosting platform; the retryable ones may pass later. */
export const platformFailureCodes = {
  NOT_A_PLATFORM: { retryable: false },
  PLAYLIST: { retryable: false },
  LIVE: { retryable: false },
  TOO_LONG: { retryable: false },
  TOO_LARGE: { retryable: false },
  PRIVATE: { retryable: false },
  AGE_RESTRICTED: { retryable: false },
  REGION_BLOCKED: { retryable: false },
  PAID: { retryable: false },
  LOGIN_REQUIRED: { retryable: false },
  PROTECTED: { retryable: false },
  NO_SUITABLE_FORMAT: { retryable: false },
  UNAVAILABLE: { retryable: false },
  FORBIDDEN: { retryable: false },
  UNREADABLE: { retryable: false },
  RATE_LIMITED: { retryable: true },
  NETWORK: { retryable: true },
  TIME_LIMIT: { retryable: true },
  TOOL_BROKEN: { retryable: true },
  /** This machine has no yt-dlp; another may. */
  NOT_SET_UP: { retryable: true },
  ABORTED: { retryable: true },
} as const satisfies Readonly<Record<string, { readonly retryable: boolean }>>;

export type PlatformFailureCode = keyof typeof platformFailureCodes;

/** A video was not had from a hosting platform. `message` is one sentence for the client; `detail` is for the log. */
export class PlatformFailure extends Error {
  override readonly name = 'PlatformFailure';
  readonly code: PlatformFailureCode;
  readonly retryable: boolean;
  readonly detail: string | undefined;

  constructor(code: PlatformFailureCode, message: string, about: { detail?: string; cause?: unknown } = {}) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause });
    this.code = code;
    this.retryable = platformFailureCodes[code].retryable;
    this.detail = about.detail;
  }
}
