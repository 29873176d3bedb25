import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { type FeedSubscription, LogFeed } from '#infra/kafka/log-feed.ts';
import { endOffsets } from '#infra/kafka/log-reader.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import { decodeRecord, UnreadableRecord } from '#schemas/codec.ts';
import { type Cancellations, cancelledItem } from './cancellations.ts';

const topic = 'job.events';

/**
 * Tells `cancellations` of every job that is called off from now on, until `signal` aborts. Resolves once
 * nothing can be missed any more. Each worker reads all partitions, outside of any group: a task runs
 * wherever it runs, and not where its job's events are consumed.
 */
export async function followCancellations(
  kafka: KafkaConnection,
  cancellations: Cancellations,
  signal: AbortSignal,
): Promise<Readonly<{ ended: Promise<void> }>> {
  const ends = await endOffsets(kafka, topic);
  const feed = new LogFeed(kafka, [topic], signal);
  const subscriptions = ends.map((offset, partition) => feed.subscribe({ topic, partition }, offset));
  const unsubscribe = () => {
    for (const subscription of subscriptions) feed.unsubscribe(subscription);
  };
  if (signal.aborted) unsubscribe();
  else signal.addEventListener('abort', unsubscribe, { once: true });
  const following = subscriptions.map((subscription) => follow(subscription, cancellations));
  return { ended: Promise.all([feed.run(), ...following]).then(() => undefined) };
}

async function follow(subscription: FeedSubscription, cancellations: Cancellations): Promise<void> {
  for (;;) {
    const chunk = await subscription.next();
    if (chunk === undefined) return;
    for (const record of chunk.records) noteIn(record, cancellations);
  }
}

/** A record that cannot be read is put aside by whoever consumes it. */
function noteIn(record: ReadRecord, cancellations: Cancellations): void {
  try {
    const item = cancelledItem(decodeRecord(record.value));
    if (item !== undefined) cancellations.note(item.value.job_id);
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
  }
}
