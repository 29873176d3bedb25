import { ByteWriter } from './byte-writer.ts';
import { type BatchMessage, recordBatchBytes } from './record-batch-bytes.ts';

/** A Produce request as kafkajs makes it. */
export type ProduceRequest = Readonly<{
  acks: number;
  timeout: number;
  transactionalId?: string | null;
  producerId: number | string;
  producerEpoch: number;
  topicData: readonly Readonly<{
    topic: string;
    partitions: readonly Readonly<{
      partition: number;
      firstSequence?: number;
      messages: readonly BatchMessage[];
    }>[];
  }>[];
}>;

/** The bytes of a Produce request, version 3 to 8, after its header. */
export function encodeProduceRequest(
  { producerId, producerEpoch, ...request }: ProduceRequest,
  crc32c: (bytes: Buffer) => number,
  nowMs: number,
): Buffer {
  const writer = new ByteWriter(1_024);
  const isTransactional = Boolean(request.transactionalId);
  writer.nullableText(request.transactionalId ?? null);
  writer.int16(request.acks);
  writer.int32(request.timeout);
  writer.int32(request.topicData.length);
  for (const { topic, partitions } of request.topicData) {
    writer.nullableText(topic);
    writer.int32(partitions.length);
    for (const { partition, firstSequence = 0, messages } of partitions) {
      const producer = { producerId, producerEpoch, firstSequence, isTransactional };
      const batch = recordBatchBytes(messages, producer, { nowMs, crc32c });
      writer.int32(partition);
      writer.int32(batch.length);
      writer.content(batch);
    }
  }
  return writer.written;
}
