import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { followTopic } from '#infra/kafka/follow-topic.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import { decodeRecord, UnreadableRecord } from '#schemas/codec.ts';
import { type Cancellations, cancelledItem } from './cancellations.ts';

/**
 * Tells `cancellations` of every job that is called off from now on, until `signal` aborts. Resolves once
 * nothing can be missed any more. Each worker hears of all of them: a task runs wherever it runs, and not where
 * its job's events are consumed.
 */
export const followCancellations = (
  kafka: KafkaConnection,
  cancellations: Cancellations,
  signal: AbortSignal,
): Promise<Readonly<{ ended: Promise<void> }>> =>
  followTopic(kafka, 'job.events', (record) => noteIn(record, cancellations), signal);

/** A record that cannot be read is put aside by whoever consumes it. */
function noteIn(record: ReadRecord, cancellations: Cancellations): void {
  try {
    const item = cancelledItem(decodeRecord(record.value));
    if (item !== undefined) cancellations.note(item.value.job_id);
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
  }
}
