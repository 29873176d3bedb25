import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { reasonOf } from '#infra/kafka/kafka-failure.ts';
import { LogFetcher } from '#infra/kafka/log-fetcher.ts';
import { positionKey } from './positions.ts';
import { projectedTopics } from './projected-topics.ts';
import type { ProjectionWriter } from './projection-writer.ts';
import { lagRecords } from './projector-metrics.ts';
import type { ProjectorStatus } from './projector-status.ts';

const LOOK_EVERY_MS = 5_000;

/** Compares the positions with the log's ends until `signal` aborts: for the lag, and to see that Kafka answers. */
export async function watchLog(
  { kafka, status }: { readonly kafka: KafkaConnection; readonly status: ProjectorStatus },
  writer: ProjectionWriter,
  signal: AbortSignal,
): Promise<void> {
  let fetcher: LogFetcher | undefined;
  while (await delay(LOOK_EVERY_MS, true, { signal }).catch(() => false)) {
    try {
      fetcher ??= await LogFetcher.open(kafka, projectedTopics);
      await measureLag(fetcher, writer);
      status.isWell('kafka');
    } catch (error) {
      status.fails('kafka', `Kafka does not answer: ${reasonOf(error)}`);
      await fetcher?.close();
      fetcher = undefined;
    }
  }
  await fetcher?.close();
}

async function measureLag(fetcher: LogFetcher, writer: ProjectionWriter): Promise<void> {
  for (const topic of projectedTopics) {
    const ends = await fetcher.endOffsets(topic);
    for (const [partition, end] of ends.entries()) {
      const applied = writer.owned.get(positionKey({ topic, partition }));
      if (applied === undefined) continue;
      lagRecords.set({ topic, partition: String(partition) }, Math.max(end - applied, 0));
    }
  }
}
