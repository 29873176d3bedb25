import { setTimeout as delay } from 'node:timers/promises';
import type { Topic } from '#schemas/topics.ts';
import type { KafkaConnection } from './connection.ts';
import { brokerErrorType, KafkaFailure, KafkaUnavailable } from './kafka-failure.ts';
import {
  type Cluster,
  type ClusterBroker,
  failOnErrorCode,
  openCluster,
  type WireRequest,
} from './kafkajs-cluster.ts';
import { type PartitionBatch, PartitionBatches, positionsOf } from './partition-batches.ts';
import type { LogPosition, RecordToAppend, TopicPartition } from './record.ts';
import {
  commitOffsetsRequest,
  commitRequest,
  featuresRequest,
  type PartitionAnswer,
  produceRequest,
  type TransactionIdentity,
} from './transaction-requests.ts';

/** What one transaction writes. */
export type TransactionContent = Readonly<{
  records: readonly RecordToAppend[];
  /**
   * Further records, that name where `records` go: called with the position each of them will have if the
   * transaction commits; undefined in topics into which others write as well.
   */
  naming?: (positions: readonly (LogPosition | undefined)[]) => readonly RecordToAppend[];
  /** How far partitions of a topic are consumed, in the name of a group; counts when the transaction commits. */
  consumed?: Readonly<{ group: string; topic: Topic; nextOffsets: ReadonlyMap<number, number> }>;
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

/**
 * Writes transactions, one after another, for one transactional id. Opening it fences every earlier writer
 * with that id, at the broker.
 *
 * It speaks Kafka's second transaction protocol (KIP-890): each transaction has an epoch of its own, so a
 * request that is late (of a connection that broke, or that timed out) can never act on a later one, and
 * what the first protocol registers with requests of their own is registered by the writes themselves. Still
 * nothing is repeated here after an unclear error, and nothing is aborted: the first error of any kind ends
 * the writer, and the next one's new epoch makes all that is under way void. Only answers that say the
 * coordinator is busy, and so did nothing, are asked again. kafkajs's own producer speaks the first protocol
 * and repeats requests; that is why it is not used here.
 */
export class TransactionalWriter {
  readonly #kafka: KafkaConnection;
  readonly #cluster: Cluster;
  readonly #coordinator: ClusterBroker;
  readonly #ownTopics: ReadonlySet<Topic>;
  /** Where this writer's next record goes, in the partitions into which nobody else writes. */
  readonly #nextOffsets = new Map<string, number>();
  #identity: TransactionIdentity;
  #groupCoordinator: ClusterBroker | undefined;
  #state: 'ready' | 'writing' | 'ended' = 'ready';

  private constructor(
    kafka: KafkaConnection,
    cluster: Cluster,
    coordinator: ClusterBroker,
    identity: TransactionIdentity,
    ownTopics: readonly Topic[],
  ) {
    this.#kafka = kafka;
    this.#cluster = cluster;
    this.#coordinator = coordinator;
    this.#identity = identity;
    this.#ownTopics = new Set(ownTopics);
  }

  /**
   * Opens a writer to `topics`; when it resolves, every earlier writer with this id is fenced. Into the
   * partitions of `ownTopics` that it writes nobody else may: their offsets are known from its first
   * transaction there on.
   */
  static async open(
    kafka: KafkaConnection,
    options: {
      readonly transactionalId: string;
      readonly topics: readonly Topic[];
      readonly ownTopics?: readonly Topic[];
    },
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
      await refuseFirstProtocol(coordinator);
      const { producerId, producerEpoch } = await whileBusy(() =>
        coordinator.initProducerId({ transactionalId, transactionTimeout: TRANSACTION_TIMEOUT_MS }),
      );
      const identity = { transactionalId, producerId: Number(producerId), producerEpoch };
      return new TransactionalWriter(kafka, cluster, coordinator, identity, options.ownTopics ?? []);
    } catch (error) {
      await cluster.disconnect().catch(() => undefined);
      if (error instanceof KafkaFailure) throw error;
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

  async #write({ records, naming, consumed }: TransactionContent): Promise<readonly LogPosition[]> {
    const sorted = new PartitionBatches(this.#kafka);
    const places = await sorted.add(records);
    if (naming !== undefined)
      await sorted.add(
        naming(
          places.map(({ topic, partition, index }) => {
            const base = this.#nextOffsets.get(this.#nameOf({ topic, partition }));
            return base === undefined ? undefined : { topic, partition, offset: base + index };
          }),
        ),
      );
    const baseOffsets = await this.#produce(sorted.batches);
    if (consumed !== undefined) await this.#commitOffsets(consumed);
    if (sorted.batches.length > 0 || consumed !== undefined) await this.#commit();
    this.#learnOffsets(sorted.batches, baseOffsets);
    return positionsOf(places, (at) => baseOffsets.get(this.#nameOf(at)));
  }

  /** One request to each broker that leads any of the partitions; where the batches begin, by partition. */
  async #produce(batches: readonly PartitionBatch[]): Promise<ReadonlyMap<string, number>> {
    const byLeader = Map.groupBy(batches, (batch) => this.#leaderOf(batch));
    const baseOffsets = new Map<string, number>();
    await Promise.all([...byLeader].map(([leader, led]) => this.#produceTo(leader, led, baseOffsets)));
    // Records that name positions are written by now: were one wrong, the transaction must not commit.
    for (const [name, expected] of this.#nextOffsets) {
      const actual = baseOffsets.get(name) ?? expected;
      if (actual !== expected)
        throw new KafkaUnavailable(`${name} continued at ${actual} and not ${expected}: who writes there?`);
    }
    return baseOffsets;
  }

  async #produceTo(
    leader: number,
    batches: readonly PartitionBatch[],
    baseOffsets: Map<string, number>,
  ): Promise<void> {
    const broker = await this.#cluster.findBroker({ nodeId: leader });
    const request = produceRequest(
      this.#identity,
      batches.map(({ topic, partition, messages }) => ({
        topicName: this.#kafka.topicName(topic),
        partition,
        messages,
      })),
    );
    for (const { topicName, partition, baseOffset } of await whileBusy(() => asked(broker, request)))
      baseOffsets.set(`${topicName}/${partition}`, baseOffset);
  }

  async #commit(): Promise<void> {
    const { errorCode, next } = await this.#coordinator.connectionPool.send(commitRequest(this.#identity));
    failOnErrorCode(errorCode);
    this.#identity = next;
  }

  /** A transaction's marker takes one offset after its records. */
  #learnOffsets(batches: readonly PartitionBatch[], baseOffsets: ReadonlyMap<string, number>): void {
    for (const batch of batches) {
      const name = this.#nameOf(batch);
      const base = baseOffsets.get(name);
      if (base !== undefined && this.#ownTopics.has(batch.topic))
        this.#nextOffsets.set(name, base + batch.messages.length + 1);
    }
  }

  async #commitOffsets(consumed: NonNullable<TransactionContent['consumed']>): Promise<void> {
    const { topic, nextOffsets } = consumed;
    const groupId = this.#kafka.scopedName(consumed.group);
    this.#groupCoordinator ??= await this.#cluster.findGroupCoordinator({
      groupId,
      coordinatorType: COORDINATORS.group,
    });
    const coordinator = this.#groupCoordinator;
    const topicName = this.#kafka.topicName(topic);
    const request = commitOffsetsRequest(this.#identity, { groupId, topicName, nextOffsets });
    await whileBusy(() => asked(coordinator, request));
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

/** Sends a request about partitions; throws what the first error among the answers says. */
async function asked<Answer extends PartitionAnswer>(
  broker: ClusterBroker,
  request: WireRequest<readonly Answer[]>,
): Promise<readonly Answer[]> {
  const answers = await broker.connectionPool.send(request);
  const isPartlyDone = answers.some(({ errorCode }) => errorCode === 0);
  for (const { errorCode, topicName, partition } of answers) {
    if (errorCode === 0) continue;
    if (isPartlyDone)
      throw new KafkaUnavailable(`Only part was written: ${topicName} ${partition} failed with ${errorCode}`);
    failOnErrorCode(errorCode);
  }
  return answers;
}

const TRANSACTION_FEATURE = 'transaction.version';
const SECOND_PROTOCOL = 2;

async function refuseFirstProtocol(broker: ClusterBroker): Promise<void> {
  const features = await broker.connectionPool.send(featuresRequest());
  const level = features.get(TRANSACTION_FEATURE) ?? 0;
  if (level >= SECOND_PROTOCOL) return;
  throw new KafkaFailure(
    'KAFKA_REFUSED',
    `The ledger needs Kafka 4 with the feature ${TRANSACTION_FEATURE} at level ${SECOND_PROTOCOL}; the cluster ` +
      `has it at ${level}. Run kafka-features.sh upgrade --feature ${TRANSACTION_FEATURE}=${SECOND_PROTOCOL}.`,
  );
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
