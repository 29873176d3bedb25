import type { Appender } from '#infra/kafka/appender.ts';
import type { RecordToAppend } from '#infra/kafka/record.ts';

/**
 * Appends `records`. An append cannot be called off, but the wait for it can: when `signal` aborts, this
 * rejects while the records may still get into the log, which their derived ids make harmless.
 */
export async function appendRecords(
  appender: Appender,
  records: readonly RecordToAppend[],
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([appender.append(records), aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
