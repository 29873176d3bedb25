import type { Topic } from '#schemas/topics.ts';
import type { KafkaConnection } from './connection.ts';
import { KafkaUnavailable } from './kafka-failure.ts';
import { partitionOf } from './partitioner.ts';
import type { LogPosition, RecordToAppend, TopicPartition } from './record.ts';
import type { BatchMessage } from './record-batch-bytes.ts';

export type PartitionBatch = TopicPartition & Readonly<{ messages: BatchMessage[] }>;

/** Which record of which batch a record is. */
export type RecordPlace = TopicPartition & Readonly<{ index: number }>;

/** Records sorted into one batch per partition. */
export class PartitionBatches {
  readonly #kafka: KafkaConnection;
  readonly #byTopic = new Map<Topic, { count: number; batches: Map<number, PartitionBatch> }>();

  constructor(kafka: KafkaConnection) {
    this.#kafka = kafka;
  }

  get batches(): readonly PartitionBatch[] {
    return [...this.#byTopic.values()].flatMap(({ batches }) => [...batches.values()]);
  }

  /** Puts each record into the partition it names, or the one of its key; where they stand, in their order. */
  async add(records: readonly RecordToAppend[]): Promise<readonly RecordPlace[]> {
    const places: RecordPlace[] = [];
    for (const { topic, key, value, headers, partition: named } of records) {
      let known = this.#byTopic.get(topic);
      if (known === undefined) {
        known = { count: await this.#kafka.partitionCount(topic), batches: new Map() };
        this.#byTopic.set(topic, known);
      }
      const partition = named ?? partitionOf(key, known.count);
      const batch = known.batches.get(partition) ?? { topic, partition, messages: [] };
      known.batches.set(partition, batch);
      places.push({ topic, partition, index: batch.messages.length });
      batch.messages.push({ key, value, ...(headers === undefined ? {} : { headers }) });
    }
    return places;
  }
}

/** The position of each record, once the broker has said where the batches begin. */
export function positionsOf(
  places: readonly RecordPlace[],
  baseOffsetOf: (at: TopicPartition) => number | undefined,
): readonly LogPosition[] {
  return places.map(({ topic, partition, index }) => {
    const base = baseOffsetOf({ topic, partition });
    if (base === undefined || !(base >= 0))
      throw new KafkaUnavailable(`Kafka did not say where the records for ${topic} ${partition} went`);
    return { topic, partition, offset: base + index };
  });
}
