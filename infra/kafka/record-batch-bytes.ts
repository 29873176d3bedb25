import { ByteWriter } from './byte-writer.ts';

/** A record for a batch. A null value is a tombstone. */
export type BatchMessage = Readonly<{
  key?: Buffer | string | null;
  value: Buffer | string | null;
  headers?: Readonly<Record<string, unknown>>;
}>;

/** Who writes a batch. `firstSequence` counts the producer's records in this partition and epoch. */
export type BatchProducer = Readonly<{
  producerId: number | string;
  producerEpoch: number;
  firstSequence: number;
  isTransactional: boolean;
}>;

const MAGIC = 2;
const TRANSACTIONAL = 0x10;
const LENGTH_FROM = 12;
const CHECKSUM_FROM = 21;

/**
 * The bytes of a record batch (message format 2): base offset, length, leader epoch, magic, checksum,
 * attributes, times, producer, records. kafkajs makes a buffer of half a kilobyte for each header of each
 * record and copies them into one another; at ten thousand records a second that was most of the ledger's
 * processor time.
 */
export function recordBatchBytes(
  messages: readonly BatchMessage[],
  producer: BatchProducer,
  { nowMs, crc32c }: { readonly nowMs: number; readonly crc32c: (bytes: Buffer) => number },
): Buffer {
  const writer = new ByteWriter(estimatedBytes(messages));
  writer.zeros(16);
  writer.int8(MAGIC);
  writer.int32(0);
  writer.int16(producer.isTransactional ? TRANSACTIONAL : 0);
  writer.int32(messages.length - 1);
  writer.int64(nowMs);
  writer.int64(nowMs);
  writer.int64(Number(producer.producerId));
  writer.int16(producer.producerEpoch);
  writer.int32(producer.firstSequence);
  writer.int32(messages.length);
  for (const [offsetDelta, message] of messages.entries()) writeRecord(writer, message, offsetDelta);
  const bytes = writer.written;
  bytes.writeInt32BE(bytes.length - LENGTH_FROM, 8);
  bytes.writeUInt32BE(crc32c(bytes.subarray(CHECKSUM_FROM)) >>> 0, 17);
  return bytes;
}

function estimatedBytes(messages: readonly BatchMessage[]): number {
  let bytes = 128;
  for (const { value } of messages) bytes += 512 + (value?.length ?? 0);
  return bytes;
}

function writeRecord(writer: ByteWriter, { key, value, headers }: BatchMessage, offsetDelta: number): void {
  const fields = headers === undefined ? [] : (Object.entries(headers) as [string, string][]);
  const start = writer.beginSized();
  writer.int8(0);
  writer.varint(0);
  writer.varint(offsetDelta);
  writer.sized(key ?? null);
  writer.sized(value);
  writer.varint(fields.length);
  for (const [name, text] of fields) {
    writer.sized(name);
    writer.sized(text);
  }
  writer.endSized(start);
}
