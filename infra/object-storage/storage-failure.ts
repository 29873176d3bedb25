import { S3ServiceException } from '@aws-sdk/client-s3';

export type StorageFailureCode =
  | 'NOT_FOUND'
  | 'TOO_LARGE'
  | 'REFUSED'
  | 'UNAVAILABLE'
  | 'TIME_LIMIT'
  | 'ABORTED';

const permanentCodes: ReadonlySet<StorageFailureCode> = new Set(['NOT_FOUND', 'TOO_LARGE', 'REFUSED']);

/** Object storage did not do what was asked. `retryable` says whether trying again later can help. */
export class StorageFailure extends Error {
  override readonly name = 'StorageFailure';
  readonly code: StorageFailureCode;
  readonly retryable: boolean;

  constructor(code: StorageFailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.retryable = !permanentCodes.has(code);
  }
}

/** The failure behind anything the S3 client throws; `doing` names the call and the key. */
export function storageFailure(error: unknown, doing: string, callerAborted: boolean): StorageFailure {
  if (error instanceof StorageFailure) return error;
  const because = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new StorageFailure(
    codeOf(error, callerAborted),
    `object storage: ${doing} failed: ${because}`,
    error,
  );
}

function codeOf(error: unknown, callerAborted: boolean): StorageFailureCode {
  if (callerAborted) return 'ABORTED';
  const name = error instanceof Error ? error.name : '';
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
  if (status === 404 || name === 'NoSuchKey' || name === 'NotFound') return 'NOT_FOUND';
  if (name === 'CopyTooLarge') return 'TOO_LARGE';
  if (name === 'TimeoutError' || name === 'AbortError' || name === 'CopyStalled') return 'TIME_LIMIT';
  if (status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429)
    return 'REFUSED';
  return 'UNAVAILABLE';
}
