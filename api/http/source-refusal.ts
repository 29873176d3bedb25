import { EgressFailure } from '#infra/egress/egress-failure.ts';
import type { Logger } from '#infra/log.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { StorageFailure } from '#infra/object-storage/storage-failure.ts';
import { PlatformFailure } from '#infra/sources/platform-failure.ts';
import { type Answer, answers } from './answers.ts';

/**
 * The answer to a request whose source could not be looked at: 400 where it must not be fetched, 422 with the
 * reason where it cannot be fetched or read, 503 where the fault is ours. Throws errors of any other kind.
 */
export function refusedSource(error: unknown, field: string, log: Logger): Answer {
  if (error instanceof StorageFailure) return ours(error, log);
  const isOfSource =
    error instanceof EgressFailure || error instanceof MediaFailure || error instanceof PlatformFailure;
  if (!isOfSource) throw error;
  switch (error.code) {
    case 'FORBIDDEN':
    case 'SOURCE_FORBIDDEN':
      return answers.invalid([{ path: field, message: error.message }]);
    case 'ABORTED':
      return answers.stopping;
    case 'TOOL_BROKEN':
      return ours(error, log);
    default:
      return answers.unusableSource(error.message);
  }
}

function ours(error: Error, log: Logger): Answer {
  log.error({ err: error }, 'A source could not be looked at, for a reason of our own.');
  return answers.unavailable;
}
