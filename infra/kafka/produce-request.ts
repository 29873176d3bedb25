/**
 * The body of a Produce request, version 3 to 8, with its record batches (message format 2) written into one
 * buffer. kafkajs makes a buffer of half a kilobyte for each header of each record and copies them into one
 * another; at ten thousand records a second that was most of the ledger's processor time.
 */

/** A record for a batch. A null value is a tombstone. */
export type BatchMessage = Readonly<{
  key?: Buffer | string | null;
  value: Buffer | string | null;
  headers?: Readonly<Record<string, unknown>>;
}>;

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

const BATCH_HEADER_BYTES = 61;
const MAGIC = 2;
const TRANSACTIONAL = 0x10;

/** The request's bytes after its header. */
export function encodeProduceRequest(
  request: ProduceRequest,
  crc32c: (bytes: Buffer) => number,
  nowMs: number,
): Buffer {
  const writer = new ByteWriter(estimatedBytes(request));
  writer.nullableText(request.transactionalId ?? null);
  writer.int16(request.acks);
  writer.int32(request.timeout);
  writer.int32(request.topicData.length);
  for (const { topic, partitions } of request.topicData) {
    writer.nullableText(topic);
    writer.int32(partitions.length);
    for (const { partition, firstSequence, messages } of partitions) {
      writer.int32(partition);
      const sizeAt = writer.at;
      writer.int32(0);
      writeBatch(writer, { request, firstSequence: firstSequence ?? 0, messages, nowMs, crc32c });
      writer.bytes.writeInt32BE(writer.at - sizeAt - 4, sizeAt);
    }
  }
  return writer.bytes.subarray(0, writer.at);
}

function estimatedBytes({ topicData }: ProduceRequest): number {
  let bytes = 512;
  for (const { partitions } of topicData)
    for (const { messages } of partitions)
      for (const { value } of messages) bytes += 512 + (value?.length ?? 0);
  return bytes;
}

/** Base offset, length, leader epoch, magic, checksum, attributes, times, producer, records. */
function writeBatch(
  writer: ByteWriter,
  batch: Readonly<{
    request: ProduceRequest;
    firstSequence: number;
    messages: readonly BatchMessage[];
    nowMs: number;
    crc32c: (bytes: Buffer) => number;
  }>,
): void {
  const { request, messages, nowMs } = batch;
  const start = writer.at;
  writer.ensure(BATCH_HEADER_BYTES);
  writer.at += 16;
  writer.int8(MAGIC);
  writer.int32(0);
  writer.int16(request.transactionalId ? TRANSACTIONAL : 0);
  writer.int32(messages.length - 1);
  writer.int64(nowMs);
  writer.int64(nowMs);
  writer.int64(Number(request.producerId));
  writer.int16(request.producerEpoch);
  writer.int32(batch.firstSequence);
  writer.int32(messages.length);
  for (const [offsetDelta, message] of messages.entries()) writeRecord(writer, message, offsetDelta);
  const { bytes } = writer;
  bytes.fill(0, start, start + 16);
  bytes.writeInt32BE(writer.at - start - 12, start + 8);
  bytes.writeUInt32BE(batch.crc32c(bytes.subarray(start + 21, writer.at)) >>> 0, start + 17);
}

function writeRecord(writer: ByteWriter, { key, value, headers }: BatchMessage, offsetDelta: number): void {
  const body = new RecordBody(key ?? null, value, headers);
  const bodyBytes = 2 + varintBytes(offsetDelta) + body.bytes;
  writer.ensure(5 + bodyBytes);
  writer.varint(bodyBytes);
  writer.int8(0);
  writer.varint(0);
  writer.varint(offsetDelta);
  writer.sized(key ?? null, body.keyBytes);
  writer.sized(value, body.valueBytes);
  writer.varint(body.headers.length);
  for (const [name, text] of body.headers) {
    writer.sized(name, Buffer.byteLength(name));
    writer.sized(text, Buffer.byteLength(text));
  }
}

/** The sizes of what a record holds, which are written before it. */
class RecordBody {
  readonly keyBytes: number;
  readonly valueBytes: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly bytes: number;

  constructor(key: Buffer | string | null, value: Buffer | string | null, headers: BatchMessage['headers']) {
    this.keyBytes = byteLength(key);
    this.valueBytes = byteLength(value);
    this.headers = headers === undefined ? [] : (Object.entries(headers) as [string, string][]);
    let bytes = sizedBytes(this.keyBytes) + sizedBytes(this.valueBytes) + varintBytes(this.headers.length);
    for (const [name, text] of this.headers)
      bytes += sizedBytes(Buffer.byteLength(name)) + sizedBytes(Buffer.byteLength(text));
    this.bytes = bytes;
  }
}

const byteLength = (content: Buffer | string | null): number =>
  content === null ? -1 : Buffer.byteLength(content);
const sizedBytes = (length: number): number => varintBytes(length) + Math.max(0, length);

/** Bytes of a zigzag varint of 32 bits. */
function varintBytes(value: number): number {
  let raw = ((value << 1) ^ (value >> 31)) >>> 0;
  let bytes = 1;
  for (; raw >= 0x80; raw >>>= 7) bytes += 1;
  return bytes;
}

/** A buffer that is written from its start on, and grows. */
class ByteWriter {
  bytes: Buffer;
  at = 0;

  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafe(bytes);
  }

  ensure(more: number): void {
    if (this.at + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.at + more));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
  }

  int8(value: number): void {
    this.ensure(1);
    this.at = this.bytes.writeInt8(value, this.at);
  }

  int16(value: number): void {
    this.ensure(2);
    this.at = this.bytes.writeInt16BE(value, this.at);
  }

  int32(value: number): void {
    this.ensure(4);
    this.at = this.bytes.writeInt32BE(value, this.at);
  }

  int64(value: number): void {
    this.ensure(8);
    this.at = this.bytes.writeBigInt64BE(BigInt(value), this.at);
  }

  /** A text with its length in two bytes before it; -1 is null. */
  nullableText(text: string | null): void {
    const length = byteLength(text);
    this.int16(length);
    this.ensure(Math.max(0, length));
    if (text !== null) this.at += this.bytes.write(text, this.at, 'utf8');
  }

  varint(value: number): void {
    let raw = ((value << 1) ^ (value >> 31)) >>> 0;
    for (; raw >= 0x80; raw >>>= 7) this.bytes[this.at++] = (raw & 0x7f) | 0x80;
    this.bytes[this.at++] = raw;
  }

  /** Content with its length as a varint before it; -1 is null. */
  sized(content: Buffer | string | null, length: number): void {
    this.varint(length);
    if (content === null) return;
    if (typeof content === 'string') this.at += this.bytes.write(content, this.at, 'utf8');
    else this.at += content.copy(this.bytes, this.at);
  }
}
