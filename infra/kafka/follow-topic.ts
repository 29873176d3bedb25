import type { Topic } from '#schemas/topics.ts';
import type { KafkaConnection } from './connection.ts';
import { type FeedSubscription, LogFeed } from './log-feed.ts';
import { endOffsets } from './log-reader.ts';
import type { ReadRecord } from './record.ts';

/**
 * Hands every record of `topic` from now on to `onRecord`, each partition's in its order, until `signal` aborts.
 * Resolves once nothing can be missed any more; `ended` resolves when it is over, and rejects with what `onRecord`
 * throws. All partitions are read, outside of any group: for what every process has to hear.
 */
export async function followTopic(
  kafka: KafkaConnection,
  topic: Topic,
  onRecord: (record: ReadRecord) => void,
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
  const following = subscriptions.map((subscription) => follow(subscription, onRecord));
  return { ended: Promise.all([feed.run(), ...following]).then(() => undefined) };
}

async function follow(subscription: FeedSubscription, onRecord: (record: ReadRecord) => void): Promise<void> {
  for (;;) {
    const chunk = await subscription.next();
    if (chunk === undefined) return;
    for (const record of chunk.records) onRecord(record);
  }
}
