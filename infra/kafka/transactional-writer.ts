import { setTimeout as delay } from 'node:timers/promises';
import type { Topic } from '#schemas/topics.ts';
import type { KafkaConnection } from './connection.ts';
import { brokerErrorType, KafkaFailure, KafkaUnavailable } from './kafka-failure.ts';
import { type Cluster, type ClusterBroker, openCluster } from './kafkajs-cluster.ts';
import {
  type PartitionBatch,
  type PartitionBatches,
  partitionBatches,
  positionsOf,
} from './partition-batches.ts';
import type { LogPosition, RecordToAppend, TopicPartition } from './record.ts';

/** What one transaction writes. */
export type TransactionContent = Readonly<{
  records: readonly RecordToAppend[];
  /** Records that name the positions of `records`, written after them in the same transaction. */
  followUp?: Readonly<{
    partitions: readonly TopicPartition[];
    records: (positions: readonly LogPosition[]) => readonly RecordToAppend[];
  }>;
  /** Consumed up to here, in the name of a consumer group; counts when the transaction commits. */
  consumed?: TopicPartition & Readonly<{ group: string; nextOffset: number }>;
}>;

/** Another writer with the same transactional id has started: this one can write no more. */
export class WriterFenced extends KafkaFailure {
  override readonly name = 'WriterFenced';

  constructor(transactionalId: string, cause: unknown) {
    super(
      'KAFKA_UNAVAILABLE',
      `Another writer has taken over the transactional id ${transactionalId}.`,
      cause,
    );
  }
}

/** An open transaction that nobody ends is aborted by the broker after this. */
const TRANSACTION_TIMEOUT_MS = 10_000;
const PRODUCE_TIMEOUT_MS = 5_000;
const ALL_REPLICAS = -1;
const COORDINATORS = { group: 0, transaction: 1 };
/** The coordinator is still writing the markers of the transaction before; that takes milliseconds. */
const BUSY_RETRY_MS = { first: 1, most: 5, atMost: 15_000 };
const busyAnswers: ReadonlySet<string | undefined> = new Set([
  'CONCURRENT_TRANSACTIONS',
  'GROUP_LOAD_IN_PROGRESS',
]);
const fencedAnswers: ReadonlySet<string | undefined> = new Set([
  'INVALID_PRODUCER_EPOCH',
  'PRODUCER_FENCED',
  'INVALID_PRODUCER_ID_MAPPING',
]);

type Identity = Readonly<{ transactionalId: string; producerId: string; producerEpoch: number }>;

/**
 * Writes transactions, one after another, for one transactional id. Opening it fences every earlier writer
 * with that id, at the broker.
 *
 * kafkajs speaks the transaction protocol from before KIP-890, in which a request that is late (of a
 * connection that broke, or that timed out) could act on a LATER transaction of the same epoch. So nothing
 * here is repeated after an unclear error, and nothing is aborted: the first error of any kind ends the
 * writer, and the next one's new epoch makes all that is still under way void. Only answers that say the
 * coordinator is busy, and so did nothing, are asked again. kafkajs's own producer repeats requests; that is
 * why it is not used here.
 */
export class TransactionalWriter {
  readonly #kafka: KafkaConnection;
  readonly #cluster: Cluster;
  readonly #identity: Identity;
  readonly #coordinator: ClusterBroker;
  readonly #sequences = new Map<string, number>();
  #groupCoordinator: ClusterBroker | undefined;
  #state: 'ready' | 'writing' | 'ended' = 'ready';

  private constructor(
    kafka: KafkaConnection,
    cluster: Cluster,
    coordinator: ClusterBroker,
    identity: Identity,
  ) {
    this.#kafka = kafka;
    this.#cluster = cluster;
    this.#coordinator = coordinator;
    this.#identity = identity;
  }

  /** Opens a writer to `topics`; when it resolves, every earlier writer with this id is fenced. */
  static async open(
    kafka: KafkaConnection,
    options: { readonly transactionalId: string; readonly topics: readonly Topic[] },
  ): Promise<TransactionalWriter> {
    const cluster = openCluster(kafka.client, kafka.settings);
    const transactionalId = kafka.scopedName(options.transactionalId);
    try {
      await cluster.connect();
      await cluster.addMultipleTargetTopics(options.topics.map((topic) => kafka.topicName(topic)));
      const coordinator = await cluster.findGroupCoordinator({
        groupId: transactionalId,
        coordinatorType: COORDINATORS.transaction,
      });
      const { producerId, producerEpoch } = await whileBusy(() =>
        coordinator.initProducerId({ transactionalId, transactionTimeout: TRANSACTION_TIMEOUT_MS }),
      );
      return new TransactionalWriter(kafka, cluster, coordinator, {
        transactionalId,
        producerId,
        producerEpoch,
      });
    } catch (error) {
      await cluster.disconnect().catch(() => undefined);
      throw new KafkaUnavailable(`Opening the transactional writer ${transactionalId} failed`, error);
    }
  }

  /** Whether an error has ended this writer. */
  get hasEnded(): boolean {
    return this.#state === 'ended';
  }

  /**
   * Writes and commits one transaction; the positions of `content.records`. When it rejects, the transaction
   * may or may not be in the log, and this writer has ended: open another, and read what became of it.
   */
  async write(content: TransactionContent): Promise<readonly LogPosition[]> {
    if (this.#state !== 'ready') throw new KafkaUnavailable(`The transactional writer is ${this.#state}`);
    this.#state = 'writing';
    try {
      const positions = await this.#write(content);
      this.#state = 'ready';
      return positions;
    } catch (error) {
      this.#state = 'ended';
      if (fencedAnswers.has(brokerErrorType(error)))
        throw new WriterFenced(this.#identity.transactionalId, error);
      if (error instanceof KafkaFailure) throw error;
      throw new KafkaUnavailable('A transaction failed, with an unknown outcome', error);
    }
  }

  async close(): Promise<void> {
    this.#state = 'ended';
    await this.#cluster.disconnect().catch(() => undefined);
  }

  async #write({ records, followUp, consumed }: TransactionContent): Promise<readonly LogPosition[]> {
    const sorted = await partitionBatches(this.#kafka, records);
    await this.#begin([...sorted.batches, ...(followUp?.partitions ?? [])], consumed?.group);
    const [positions] = await Promise.all([this.#produce(sorted), this.#commitOffset(consumed)]);
    if (followUp !== undefined)
      await this.#produce(await partitionBatches(this.#kafka, followUp.records(positions)));
    await this.#coordinator.endTxn({ ...this.#identity, transactionResult: true });
    return positions;
  }

  /** Registers what the transaction will touch; only then may anything be produced. */
  async #begin(partitions: readonly TopicPartition[], group: string | undefined): Promise<void> {
    const byTopic = Map.groupBy(partitions, ({ topic }) => topic);
    const topics = [...byTopic].map(([topic, touched]) => ({
      topic: this.#kafka.topicName(topic),
      partitions: [...new Set(touched.map(({ partition }) => partition))],
    }));
    const addPartitions = () => this.#coordinator.addPartitionsToTxn({ ...this.#identity, topics });
    if (group === undefined) return whileBusy(addPartitions);
    const groupId = this.#kafka.scopedName(group);
    const addOffsets = () => this.#coordinator.addOffsetsToTxn({ ...this.#identity, groupId });
    // Both at once spares a round trip; a coordinator that is busy is then asked for one after the other.
    const [, offsetsAdded] = await Promise.all([whileBusy(addPartitions), unlessBusy(addOffsets)]);
    if (!offsetsAdded) await whileBusy(addOffsets);
  }

  async #produce(sorted: PartitionBatches): Promise<readonly LogPosition[]> {
    const byLeader = Map.groupBy(sorted.batches, (batch) => this.#leaderOf(batch));
    const baseOffsets = new Map<string, number>();
    await Promise.all(
      [...byLeader].map(([leader, batches]) => this.#produceTo(leader, batches, baseOffsets)),
    );
    return positionsOf(sorted, (at) => baseOffsets.get(this.#nameOf(at)));
  }

  async #produceTo(
    leader: number,
    batches: readonly PartitionBatch[],
    baseOffsets: Map<string, number>,
  ): Promise<void> {
    const broker = await this.#cluster.findBroker({ nodeId: leader });
    const byTopic = Map.groupBy(batches, ({ topic }) => topic);
    const { topics } = await broker.produce({
      ...this.#identity,
      acks: ALL_REPLICAS,
      timeout: PRODUCE_TIMEOUT_MS,
      topicData: [...byTopic].map(([topic, partitions]) => ({
        topic: this.#kafka.topicName(topic),
        partitions: partitions.map((batch) => ({
          partition: batch.partition,
          firstSequence: this.#takeSequence(batch),
          messages: batch.messages,
        })),
      })),
    });
    for (const { topicName, partitions } of topics)
      for (const { partition, baseOffset } of partitions)
        baseOffsets.set(`${topicName}/${partition}`, Number(baseOffset));
  }

  async #commitOffset(consumed: TransactionContent['consumed']): Promise<void> {
    if (consumed === undefined) return;
    const { topic, partition, nextOffset } = consumed;
    const groupId = this.#kafka.scopedName(consumed.group);
    this.#groupCoordinator ??= await this.#cluster.findGroupCoordinator({
      groupId,
      coordinatorType: COORDINATORS.group,
    });
    await this.#groupCoordinator.txnOffsetCommit({
      ...this.#identity,
      groupId,
      topics: [
        {
          topic: this.#kafka.topicName(topic),
          partitions: [{ partition, offset: String(nextOffset), metadata: null }],
        },
      ],
    });
  }

  /** The broker counts an epoch's records per partition; the count may not reach 2^31 and starts at 0 again. */
  #takeSequence(batch: PartitionBatch): number {
    const name = this.#nameOf(batch);
    const first = this.#sequences.get(name) ?? 0;
    const next = first + batch.messages.length;
    this.#sequences.set(name, next > 0x7fffffff ? next - 0x80000000 : next);
    return first;
  }

  #leaderOf({ topic, partition }: TopicPartition): number {
    const leader = this.#cluster
      .findTopicPartitionMetadata(this.#kafka.topicName(topic))
      .find(({ partitionId }) => partitionId === partition)?.leader;
    if (leader === undefined || leader < 0)
      throw new KafkaUnavailable(`Partition ${partition} of ${topic} has no leader`);
    return leader;
  }

  #nameOf({ topic, partition }: TopicPartition): string {
    return `${this.#kafka.topicName(topic)}/${partition}`;
  }
}

/** False when the coordinator answers that it is busy. */
async function unlessBusy(ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (busyAnswers.has(brokerErrorType(error))) return false;
    throw error;
  }
}

/** Asks again as long as the coordinator answers that it is busy with the transaction before. */
async function whileBusy<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const giveUpAt = performance.now() + BUSY_RETRY_MS.atMost;
  for (let waitMs = BUSY_RETRY_MS.first; ; waitMs = Math.min(waitMs + 1, BUSY_RETRY_MS.most)) {
    try {
      return await ask();
    } catch (error) {
      if (!busyAnswers.has(brokerErrorType(error)) || performance.now() > giveUpAt) throw error;
      await delay(waitMs);
    }
  }
}
