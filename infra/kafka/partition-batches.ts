import type { Message } from 'kafkajs';
import type { Topic } from '#schemas/topics.ts';
import type { KafkaConnection } from './connection.ts';
import { KafkaUnavailable } from './kafka-failure.ts';
import { partitionOf } from './partitioner.ts';
import type { LogPosition, RecordToAppend, TopicPartition } from './record.ts';

export type PartitionBatch = TopicPartition & Readonly<{ messages: Message[] }>;

/** Records sorted into one batch per partition, and where each record stands in its batch. */
export type PartitionBatches = Readonly<{
  batches: readonly PartitionBatch[];
  places: readonly Readonly<{ batch: PartitionBatch; index: number }>[];
}>;

/** Sorts `records` by partition: the one they name, or the one of their key. */
export async function partitionBatches(
  kafka: KafkaConnection,
  records: readonly RecordToAppend[],
): Promise<PartitionBatches> {
  const byTopic = new Map<Topic, { count: number; batches: Map<number, PartitionBatch> }>();
  const places: { batch: PartitionBatch; index: number }[] = [];
  for (const { topic, key, value, headers, partition: named } of records) {
    let known = byTopic.get(topic);
    if (known === undefined) {
      known = { count: await kafka.partitionCount(topic), batches: new Map() };
      byTopic.set(topic, known);
    }
    const partition = named ?? partitionOf(key, known.count);
    const batch = known.batches.get(partition) ?? { topic, partition, messages: [] };
    known.batches.set(partition, batch);
    places.push({ batch, index: batch.messages.length });
    batch.messages.push({
      key,
      value,
      partition,
      ...(headers === undefined ? {} : { headers: { ...headers } }),
    });
  }
  return { batches: [...byTopic.values()].flatMap(({ batches }) => [...batches.values()]), places };
}

/** The position of each record, in the records' order, once the broker has said where the batches begin. */
export function positionsOf(
  { places }: PartitionBatches,
  baseOffsetOf: (at: TopicPartition) => number | undefined,
): readonly LogPosition[] {
  return places.map(({ batch: { topic, partition }, index }) => {
    const base = baseOffsetOf({ topic, partition });
    if (base === undefined || !(base >= 0))
      throw new KafkaUnavailable(`Kafka did not say where the records for ${topic} ${partition} went`);
    return { topic, partition, offset: base + index };
  });
}
