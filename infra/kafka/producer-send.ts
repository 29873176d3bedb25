import {
  CompressionTypes,
  type Message,
  type PartitionerArgs,
  type Producer,
  type ProducerConfig,
  type Transaction,
} from 'kafkajs';
import type { Topic } from '#schemas/topics.ts';
import type { KafkaConnection } from './connection.ts';
import { KafkaUnavailable } from './kafka-failure.ts';
import { partitionOf } from './partitioner.ts';
import type { LogPosition, RecordToAppend } from './record.ts';

const ALL_REPLICAS = -1;
const SEND_TIMEOUT_MS = 10_000;

function namedPartition({ topic, message }: PartitionerArgs): number {
  if (message.partition === undefined) throw new Error(`A record for ${topic} does not name its partition.`);
  return message.partition;
}

/** A connected idempotent producer. It never chooses a partition: `sendRecords` names them all. */
export async function openProducer(kafka: KafkaConnection, config: ProducerConfig): Promise<Producer> {
  const producer = kafka.client.producer({
    idempotent: true,
    allowAutoTopicCreation: false,
    createPartitioner: () => namedPartition,
    ...config,
  });
  try {
    await producer.connect();
    return producer;
  } catch (error) {
    await producer.disconnect().catch(() => undefined);
    throw new KafkaUnavailable('Cannot connect to Kafka for writing', error);
  }
}

/** One `send()` of all records; their positions, in their order. */
export async function sendRecords(
  kafka: KafkaConnection,
  sender: Pick<Producer | Transaction, 'sendBatch'>,
  records: readonly RecordToAppend[],
): Promise<readonly LogPosition[]> {
  if (records.length === 0) return [];
  const batches = new PartitionBatches();
  const placed: Placed[] = [];
  for (const record of records) {
    const partition = record.partition ?? partitionOf(record.key, await kafka.partitionCount(record.topic));
    placed.push(batches.add(record, partition));
  }
  const answers = await sender.sendBatch({
    acks: ALL_REPLICAS,
    timeout: SEND_TIMEOUT_MS,
    compression: CompressionTypes.None,
    topicMessages: batches.topicMessages((topic) => kafka.topicName(topic)),
  });
  const baseOffsets = new Map(
    answers.map(({ topicName, partition, baseOffset }) => [`${topicName}/${partition}`, Number(baseOffset)]),
  );
  return placed.map(({ topic, partition, index }) => {
    const base = baseOffsets.get(`${kafka.topicName(topic)}/${partition}`);
    if (base === undefined || !(base >= 0))
      throw new KafkaUnavailable(`Kafka did not say where the records for ${topic} ${partition} went`);
    return { topic, partition, offset: base + index };
  });
}

type Placed = Readonly<{ topic: Topic; partition: number; index: number }>;

/** The records grouped by topic, and how many each partition has got. */
class PartitionBatches {
  readonly #messages = new Map<Topic, Message[]>();
  readonly #counts = new Map<string, number>();

  add(record: RecordToAppend, partition: number): Placed {
    const { topic, key, value, headers } = record;
    const messages = this.#messages.get(topic) ?? [];
    messages.push({ key, value, partition, ...(headers === undefined ? {} : { headers: { ...headers } }) });
    this.#messages.set(topic, messages);
    const counter = `${topic}/${partition}`;
    const index = this.#counts.get(counter) ?? 0;
    this.#counts.set(counter, index + 1);
    return { topic, partition, index };
  }

  topicMessages(nameOf: (topic: Topic) => string) {
    return [...this.#messages].map(([topic, messages]) => ({ topic: nameOf(topic), messages }));
  }
}
