import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { KafkaFailure, reasonOf } from '#infra/kafka/kafka-failure.ts';
import { LogFetcher } from '#infra/kafka/log-fetcher.ts';
import type { Logger } from '#infra/log.ts';
import { decodeRecord } from '#schemas/codec.ts';
import type { Topic } from '#schemas/topics.ts';

const coPartitioned: readonly Topic[] = ['wallet.commands', 'wallet.events', 'team.events', 'wallet.state'];
const RETRY_MS = 500;
const MAX_WAIT_MS = 100;

/**
 * The partition count of the topics keyed by team, once it is sure that wallets lie where the log began to
 * put them: the first record of each partition of wallet.events is the election of its first owner, and
 * names the count. Rejects on another count; waits while Kafka cannot be reached, undefined when stopped.
 */
export async function refuseOtherPartitionCount(
  kafka: KafkaConnection,
  log: Logger,
  signal: AbortSignal,
): Promise<number | undefined> {
  while (!signal.aborted) {
    try {
      const count = await kafka.partitionCount('wallet.events');
      for (const topic of coPartitioned) refuse(topic, await kafka.partitionCount(topic), count);
      for (const recorded of await recordedCounts(kafka)) refuse('wallet.events', count, recorded);
      return count;
    } catch (error) {
      if (error instanceof KafkaFailure && !error.retryable) throw error;
      log.warn({ reason: reasonOf(error) }, 'The ledger waits for Kafka.');
      await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

function refuse(topic: Topic, count: number, expected: number): void {
  if (count === expected) return;
  throw new KafkaFailure(
    'KAFKA_REFUSED',
    `${topic} has ${count} partitions, but this log was begun with ${expected}: each wallet would have two ` +
      'owners. Restore the count, or copy the log to new topics with another KAFKA_TOPIC_PREFIX.',
  );
}

/** The counts that the first elections of all partitions name. */
async function recordedCounts(kafka: KafkaConnection): Promise<ReadonlySet<number>> {
  const topic = 'wallet.events';
  const fetcher = await LogFetcher.open(kafka, [topic]);
  try {
    const beginnings = await fetcher.beginningOffsets(topic);
    const counts = new Set<number>();
    for (const partition of fetcher.partitions(topic)) {
      const from = [{ topic, partition, offset: beginnings[partition] ?? 0 } as const];
      const [chunk] = await fetcher.fetch(from, MAX_WAIT_MS);
      for (const { value } of chunk?.records ?? []) {
        const record = decodeRecord(value);
        if (record.name !== 'LedgerOwnerElected') continue;
        counts.add(record.value.partition_count);
        break;
      }
    }
    return counts;
  } finally {
    await fetcher.close();
  }
}
