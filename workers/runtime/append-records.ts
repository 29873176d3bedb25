import type { Appender } from '#infra/kafka/appender.ts';
import type { RecordToAppend } from '#infra/kafka/record.ts';
import { unlessAborted } from './unless-aborted.ts';

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
  await unlessAborted(appender.append(records), signal);
}
