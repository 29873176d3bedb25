import {
  CompressionTypes,
  type Message,
  type PartitionerArgs,
  type Producer,
  type ProducerConfig,
} from 'kafkajs';
import type { KafkaConnection } from './connection.ts';
import { KafkaUnavailable } from './kafka-failure.ts';
import { PartitionBatches, positionsOf } from './partition-batches.ts';
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
  producer: Producer,
  records: readonly RecordToAppend[],
): Promise<readonly LogPosition[]> {
  if (records.length === 0) return [];
  const sorted = new PartitionBatches(kafka);
  const places = await sorted.add(records);
  const answers = await producer.sendBatch({
    acks: ALL_REPLICAS,
    timeout: SEND_TIMEOUT_MS,
    compression: CompressionTypes.None,
    topicMessages: sorted.batches.map(({ topic, partition, messages }) => ({
      topic: kafka.topicName(topic),
      messages: messages.map((message) => ({ ...message, partition }) as Message),
    })),
  });
  const baseOffsets = new Map(
    answers.map(({ topicName, partition, baseOffset }) => [`${topicName}/${partition}`, Number(baseOffset)]),
  );
  return positionsOf(places, ({ topic, partition }) =>
    baseOffsets.get(`${kafka.topicName(topic)}/${partition}`),
  );
}
