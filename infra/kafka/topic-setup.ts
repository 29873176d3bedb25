import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, ITopicConfig } from 'kafkajs';
import { type Topic, topicNames, topics } from '#schemas/topics.ts';
import type { Config } from '../config.ts';
import type { KafkaConnection } from './connection.ts';
import { KafkaFailure, KafkaUnavailable } from './kafka-failure.ts';
import { LogFetcher } from './log-fetcher.ts';

type TopicSettings = Pick<Config, 'KAFKA_TOPIC_PROFILE' | 'KAFKA_REPLICATION_FACTOR'>;

const LOOKS = 50;
const LOOK_AGAIN_MS = 100;
/** Compaction may run as soon as a tenth of the log is old: the state is read at each take-over. */
const COMPACTED = {
  'cleanup.policy': 'compact',
  'min.cleanable.dirty.ratio': '0.1',
  'segment.bytes': '67108864',
};

/**
 * Creates the topics that are missing and checks the partition counts of those that are there. Every process
 * calls it at its start; several may do so at once. Rejects with a `KafkaFailure` that names each topic with
 * a count the settings do not expect: keys would go to other partitions, and wallets would change owners.
 */
export async function ensureTopics(kafka: KafkaConnection, settings: TopicSettings): Promise<void> {
  const wereCreated = await kafka.admin(async (admin) => {
    for (let look = 0; look < LOOKS; look++) {
      const counts = await existingCounts(kafka, admin);
      checkCounts(kafka, counts, settings);
      const missing = topicNames.filter((topic) => !counts.has(topic));
      if (missing.length === 0) {
        kafka.rememberPartitionCounts(counts);
        return look > 0;
      }
      if (look > 0) await delay(LOOK_AGAIN_MS);
      await createTopics(kafka, admin, missing, settings);
    }
    throw new KafkaUnavailable('The topics were created but do not show up on the cluster');
  });
  if (wereCreated) await leadersReady(kafka);
}

/** A new partition has a leader in the metadata a moment before that broker knows it. */
async function leadersReady(kafka: KafkaConnection): Promise<void> {
  for (let look = 1; ; look++) {
    const fetcher = await LogFetcher.open(kafka, topicNames);
    try {
      for (const topic of topicNames) await fetcher.endOffsets(topic);
      return;
    } catch (error) {
      if (look === LOOKS) throw error;
      await delay(LOOK_AGAIN_MS);
    } finally {
      await fetcher.close();
    }
  }
}

async function existingCounts(kafka: KafkaConnection, admin: Admin): Promise<Map<Topic, number>> {
  const names = new Set(await admin.listTopics());
  const existing = topicNames.filter((topic) => names.has(kafka.topicName(topic)));
  if (existing.length === 0) return new Map();
  const { topics: found } = await admin.fetchTopicMetadata({
    topics: existing.map((topic) => kafka.topicName(topic)),
  });
  const countByName = new Map(found.map(({ name, partitions }) => [name, partitions.length]));
  return new Map(existing.map((topic) => [topic, countByName.get(kafka.topicName(topic)) ?? 0]));
}

function checkCounts(
  kafka: KafkaConnection,
  counts: ReadonlyMap<Topic, number>,
  { KAFKA_TOPIC_PROFILE: profile }: TopicSettings,
): void {
  const wrong = [...counts].filter(([topic, count]) => {
    const { partitions, keyedBy } = topics[topic];
    // Tasks may land anywhere, so an operator may add partitions for more workers.
    return keyedBy === 'task' ? count < partitions[profile] : count !== partitions[profile];
  });
  if (wrong.length === 0) return;
  const list = wrong.map(
    ([topic, count]) =>
      `${kafka.topicName(topic)} has ${count}, expected ${topics[topic].partitions[profile]}`,
  );
  throw new KafkaFailure(
    'KAFKA_REFUSED',
    `Partition counts do not fit KAFKA_TOPIC_PROFILE=${profile}: ${list.join('; ')}. ` +
      'They cannot change in place: use the profile the cluster was set up with, or another KAFKA_TOPIC_PREFIX.',
  );
}

async function createTopics(
  kafka: KafkaConnection,
  admin: Admin,
  missing: readonly Topic[],
  settings: TopicSettings,
): Promise<void> {
  try {
    await admin.createTopics({ topics: missing.map((topic) => topicConfig(kafka, topic, settings)) });
  } catch (error) {
    // Another process may have been faster; the next look shows whether all of them are there.
    kafka.log.debug({ err: error }, 'Creating topics did not succeed as a whole.');
  }
}

function topicConfig(kafka: KafkaConnection, topic: Topic, settings: TopicSettings): ITopicConfig {
  const { partitions, kept } = topics[topic];
  const replicationFactor =
    settings.KAFKA_REPLICATION_FACTOR ?? (settings.KAFKA_TOPIC_PROFILE === 'production' ? 3 : 1);
  const entries: Record<string, string> = {
    'min.insync.replicas': replicationFactor >= 3 ? '2' : '1',
    ...(kept === 'compacted'
      ? COMPACTED
      : {
          'cleanup.policy': 'delete',
          'retention.ms': kept === 'for-ever' ? '-1' : String(kept),
          'retention.bytes': '-1',
        }),
  };
  return {
    topic: kafka.topicName(topic),
    numPartitions: partitions[settings.KAFKA_TOPIC_PROFILE],
    replicationFactor,
    configEntries: Object.entries(entries).map(([name, value]) => ({ name, value })),
  };
}
