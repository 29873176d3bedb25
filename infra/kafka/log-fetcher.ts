import type { Topic } from '#schemas/topics.ts';
import type { KafkaConnection } from './connection.ts';
import { decodeFetchAnswer, type FetchedPartition } from './fetch-answer.ts';
import { KafkaFailure, KafkaUnavailable } from './kafka-failure.ts';
import { type Cluster, type FetchTarget, fetchRequest, openCluster } from './kafkajs-cluster.ts';
import type { ReadRecord, TopicPartition } from './record.ts';
import { decodeBatches } from './record-batches.ts';

/** What a fetch brought of one partition. `nextOffset` counts control records and emptied batches too. */
export type FetchedRecords = TopicPartition &
  Readonly<{ records: readonly ReadRecord[]; nextOffset: number; lastStableOffset: number }>;

export type FetchFrom = TopicPartition & Readonly<{ offset: number }>;

/** How long to wait for anything to come, and how many bytes of a partition to take at most (a whole batch at least). */
export type FetchLimits = Readonly<{ maxWaitMs: number; partitionBytes?: number }>;

const PARTITION_BYTES = 1024 * 1024;
const ANSWER_BYTES = 16 * 1024 * 1024;
/** What a fetch may take beyond its waiting time before the connection counts as dead. */
const FETCH_GRACE_MS = 10_000;
const OFFSET_OUT_OF_RANGE = 1;

/** The log has no such offset: retention has deleted it, or it is beyond the end. */
export class OffsetOutOfRange extends KafkaFailure {
  override readonly name = 'OffsetOutOfRange';
  readonly at: FetchFrom;

  constructor(at: FetchFrom, message: string) {
    super('KAFKA_REFUSED', message);
    this.at = at;
  }
}

/**
 * Reads committed records from chosen offsets over connections of its own, without a consumer group. One
 * fetch per broker at a time (a broker answers a connection's requests in order). After an error it is of
 * no more use: close it and open another.
 */
export class LogFetcher {
  readonly #kafka: KafkaConnection;
  readonly #cluster: Cluster;
  readonly #topicOf = new Map<string, Topic>();

  private constructor(kafka: KafkaConnection, cluster: Cluster, topics: readonly Topic[]) {
    this.#kafka = kafka;
    this.#cluster = cluster;
    for (const topic of topics) this.#topicOf.set(kafka.topicName(topic), topic);
  }

  /** Connects for these topics. Rejects with `KafkaUnavailable`. */
  static async open(kafka: KafkaConnection, topics: readonly Topic[]): Promise<LogFetcher> {
    const cluster = openCluster(kafka.client, kafka.settings);
    try {
      await cluster.connect();
      await cluster.addMultipleTargetTopics(topics.map((topic) => kafka.topicName(topic)));
      return new LogFetcher(kafka, cluster, topics);
    } catch (error) {
      await cluster.disconnect().catch(() => undefined);
      throw new KafkaUnavailable('Cannot connect to Kafka for reading', error);
    }
  }

  /** The partitions of a topic. */
  partitions(topic: Topic): readonly number[] {
    return this.#metadata(topic)
      .map(({ partitionId }) => partitionId)
      .sort((a, b) => a - b);
  }

  /** The broker that leads a partition, by its id. */
  leaderOf({ topic, partition }: TopicPartition): number {
    const leader = this.#metadata(topic).find(({ partitionId }) => partitionId === partition)?.leader;
    if (leader === undefined || leader < 0)
      throw new KafkaUnavailable(`Partition ${partition} of ${topic} has no leader`);
    return leader;
  }

  /** One fetch from the broker that leads all of `from`. */
  async fetch(
    from: readonly FetchFrom[],
    { maxWaitMs, partitionBytes = PARTITION_BYTES }: FetchLimits,
  ): Promise<readonly FetchedRecords[]> {
    const [first] = from;
    if (first === undefined) return [];
    try {
      const broker = await this.#cluster.findBroker({ nodeId: this.leaderOf(first) });
      const fetched = await broker.connectionPool.send<readonly FetchedPartition[]>({
        request: fetchRequest({
          maxWaitMs,
          maxBytes: ANSWER_BYTES,
          topics: this.#targets(from, partitionBytes),
        }),
        response: {
          decode: async (payload) => ({ fetched: decodeFetchAnswer(payload) }),
          parse: async ({ fetched: partitions }: { fetched: readonly FetchedPartition[] }) => partitions,
        },
        requestTimeout: maxWaitMs + FETCH_GRACE_MS,
      });
      return fetched.map((partition) => this.#decoded(partition, from));
    } catch (error) {
      if (error instanceof KafkaFailure) throw error;
      throw new KafkaUnavailable('Reading from Kafka failed', error);
    }
  }

  /** The end of the committed records (the last stable offset) of each partition of a topic, by partition. */
  endOffsets(topic: Topic): Promise<readonly number[]> {
    return this.#offsets(topic, false);
  }

  /** The first offset that is still kept, of each partition of a topic, by partition. */
  beginningOffsets(topic: Topic): Promise<readonly number[]> {
    return this.#offsets(topic, true);
  }

  async close(): Promise<void> {
    await this.#cluster.disconnect().catch(() => undefined);
  }

  async #offsets(topic: Topic, fromBeginning: boolean): Promise<readonly number[]> {
    const partitions = this.partitions(topic).map((partition) => ({ partition }));
    try {
      const [answer] = await this.#cluster.fetchTopicsOffset([
        { topic: this.#kafka.topicName(topic), partitions, fromBeginning },
      ]);
      const offsets = new Map(answer?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
      return partitions.map(({ partition }) => offsets.get(partition) ?? 0);
    } catch (error) {
      throw new KafkaUnavailable(`Asking for the offsets of ${topic} failed`, error);
    }
  }

  #metadata(topic: Topic) {
    return this.#cluster.findTopicPartitionMetadata(this.#kafka.topicName(topic));
  }

  #targets(from: readonly FetchFrom[], maxBytes: number) {
    const byTopic = new Map<Topic, FetchTarget[]>();
    for (const { topic, partition, offset } of from) {
      const targets = byTopic.get(topic) ?? [];
      targets.push({ partition, fetchOffset: String(offset), maxBytes });
      byTopic.set(topic, targets);
    }
    return [...byTopic].map(([topic, partitions]) => ({ topic: this.#kafka.topicName(topic), partitions }));
  }

  #decoded(fetched: FetchedPartition, from: readonly FetchFrom[]): FetchedRecords {
    const { partition, errorCode, lastStableOffset } = fetched;
    const topic = this.#topicOf.get(fetched.topicName);
    const asked = from.find((target) => target.topic === topic && target.partition === partition);
    if (topic === undefined || asked === undefined)
      throw new KafkaUnavailable(`The broker answered with ${fetched.topicName}, which was not asked for`);
    if (errorCode !== 0) throw fetchError(asked, errorCode);
    const { records, nextOffset } = decodeBatches(
      fetched.batches,
      { topic, partition, fetchOffset: asked.offset },
      fetched.aborted,
    );
    return { topic, partition, records, nextOffset, lastStableOffset };
  }
}

function fetchError({ topic, partition, offset }: FetchFrom, errorCode: number): KafkaFailure {
  const where = `offset ${offset} of ${topic} partition ${partition}`;
  if (errorCode === OFFSET_OUT_OF_RANGE)
    return new OffsetOutOfRange(
      { topic, partition, offset },
      `Kafka does not have ${where}: it is deleted, or beyond the end.`,
    );
  return new KafkaUnavailable(`Reading ${where} failed with Kafka's error code ${errorCode}`);
}

/** The committed end of each partition of a topic, by partition. */
export async function endOffsets(kafka: KafkaConnection, topic: Topic): Promise<readonly number[]> {
  const fetcher = await LogFetcher.open(kafka, [topic]);
  try {
    return await fetcher.endOffsets(topic);
  } finally {
    await fetcher.close();
  }
}

/** The first offset of a partition that is still kept, and the end of its committed records. */
export async function partitionBounds(
  kafka: KafkaConnection,
  { topic, partition }: TopicPartition,
): Promise<{ readonly beginning: number; readonly end: number }> {
  const fetcher = await LogFetcher.open(kafka, [topic]);
  try {
    const beginning = (await fetcher.beginningOffsets(topic))[partition] ?? 0;
    return { beginning, end: (await fetcher.endOffsets(topic))[partition] ?? 0 };
  } finally {
    await fetcher.close();
  }
}
