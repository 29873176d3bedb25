import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { Topic } from '#schemas/topics.ts';
import { KafkaFailure } from './kafka-failure.ts';
import type { ReadRecord } from './record.ts';

/**
 * Record batches (message format 2) as a broker sends them. Decoded here and not by kafkajs for two reasons:
 * kafkajs shows records of aborted transactions when several producers' transactions interleave (it takes the
 * broker's list of aborted transactions to be sorted by first offset, which it is not), and it cannot get past
 * a batch that compaction has emptied.
 */

/** An aborted transaction of a producer, from the offset of its first record in this partition. */
export type AbortedTransaction = Readonly<{ producerId: number; firstOffset: number }>;

/** What one partition's bytes hold: committed records, and where the next fetch begins. */
export type DecodedBatches = Readonly<{ records: readonly ReadRecord[]; nextOffset: number }>;

const BATCH_HEADER_BYTES = 61;
const COMPRESSION_MASK = 0x07;
const TRANSACTIONAL_FLAG = 0x10;
const CONTROL_FLAG = 0x20;
const ABORT_MARKER = 0;
const TWO_TO_32 = 4_294_967_296;

/** The committed records from `fetchOffset` on. A batch cut off at the end is left for the next fetch. */
export function decodeBatches(
  bytes: Buffer,
  from: Readonly<{ topic: Topic; partition: number; fetchOffset: number }>,
  aborted: readonly AbortedTransaction[],
): DecodedBatches {
  const records: ReadRecord[] = [];
  const abortedProducers = new AbortedProducers(aborted);
  let nextOffset = from.fetchOffset;
  for (let at = 0; at + BATCH_HEADER_BYTES <= bytes.length; ) {
    const batchEnd = at + 12 + bytes.readInt32BE(at + 8);
    if (batchEnd > bytes.length) break;
    const batch = readHeader(bytes, at, batchEnd);
    abortedProducers.advanceTo(batch.lastOffset);
    if (batch.isControl) abortedProducers.onMarker(batch, bytes, at);
    else if (!batch.isTransactional || !abortedProducers.has(batch.producerId))
      readRecords(batch, bytes, at, from, records);
    nextOffset = Math.max(nextOffset, batch.lastOffset + 1);
    at = batchEnd;
  }
  return { records, nextOffset };
}

type BatchHeader = Readonly<{
  end: number;
  baseOffset: number;
  lastOffset: number;
  compression: number;
  isTransactional: boolean;
  isControl: boolean;
  baseTimestampMs: number;
  producerId: number;
  recordCount: number;
}>;

function readHeader(bytes: Buffer, at: number, end: number): BatchHeader {
  const attributes = bytes.readInt16BE(at + 21);
  const baseOffset = readLong(bytes, at);
  return {
    end,
    baseOffset,
    lastOffset: baseOffset + bytes.readInt32BE(at + 23),
    compression: attributes & COMPRESSION_MASK,
    isTransactional: (attributes & TRANSACTIONAL_FLAG) !== 0,
    isControl: (attributes & CONTROL_FLAG) !== 0,
    baseTimestampMs: readLong(bytes, at + 27),
    producerId: readLong(bytes, at + 43),
    recordCount: bytes.readInt32BE(at + 57),
  };
}

/** The producers in an aborted transaction at the place in the log that reading has come to. */
class AbortedProducers {
  readonly #upcoming: AbortedTransaction[];
  readonly #current = new Set<number>();

  constructor(aborted: readonly AbortedTransaction[]) {
    this.#upcoming = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  }

  advanceTo(offset: number): void {
    for (
      let next = this.#upcoming[0];
      next !== undefined && next.firstOffset <= offset;
      next = this.#upcoming[0]
    ) {
      this.#current.add(next.producerId);
      this.#upcoming.shift();
    }
  }

  onMarker(batch: BatchHeader, bytes: Buffer, at: number): void {
    if (markerType(bytes, at) === ABORT_MARKER) this.#current.delete(batch.producerId);
  }

  has(producerId: number): boolean {
    return this.#current.has(producerId);
  }
}

function readRecords(
  batch: BatchHeader,
  bytes: Buffer,
  at: number,
  from: Readonly<{ topic: Topic; partition: number; fetchOffset: number }>,
  into: ReadRecord[],
): void {
  const start = at + BATCH_HEADER_BYTES;
  const cursor =
    batch.compression === 0
      ? new Cursor(bytes, start)
      : new Cursor(decompress(bytes.subarray(start, batch.end), batch.compression), 0);
  for (let index = 0; index < batch.recordCount; index++) {
    const recordBytes = cursor.varint();
    const recordEnd = cursor.at + recordBytes;
    cursor.at += 1;
    const timestampMs = batch.baseTimestampMs + cursor.varlong();
    const offset = batch.baseOffset + cursor.varint();
    const key = cursor.sized();
    const value = cursor.sized();
    if (offset >= from.fetchOffset)
      into.push(new LogRecord(from, offset, timestampMs, key, value, cursor.bytes, cursor.at));
    cursor.at = recordEnd;
  }
}

/** A control batch holds one record, whose key is a version and the marker's type, two bytes each. */
function markerType(bytes: Buffer, at: number): number | undefined {
  const cursor = new Cursor(bytes, at + BATCH_HEADER_BYTES);
  cursor.varint();
  cursor.at += 1;
  cursor.varlong();
  cursor.varint();
  return cursor.sized()?.readInt16BE(2);
}

const EMPTY = Buffer.alloc(0);

/** A record over the bytes it came in; key and headers are decoded when they are asked for. */
class LogRecord implements ReadRecord {
  readonly topic: Topic;
  readonly partition: number;
  readonly offset: number;
  readonly timestampMs: number;
  readonly value: Buffer;
  readonly keyBytes: Buffer;
  readonly #bytes: Buffer;
  readonly #headersAt: number;
  #headers: Readonly<Record<string, string>> | undefined;

  constructor(
    from: Readonly<{ topic: Topic; partition: number }>,
    offset: number,
    timestampMs: number,
    key: Buffer | null,
    value: Buffer | null,
    bytes: Buffer,
    headersAt: number,
  ) {
    this.topic = from.topic;
    this.partition = from.partition;
    this.offset = offset;
    this.timestampMs = timestampMs;
    this.keyBytes = key ?? EMPTY;
    this.value = value ?? EMPTY;
    this.#bytes = bytes;
    this.#headersAt = headersAt;
  }

  get key(): string {
    return this.keyBytes.toString('utf8');
  }

  get headers(): Readonly<Record<string, string>> {
    this.#headers ??= this.#readHeaders();
    return this.#headers;
  }

  #readHeaders(): Readonly<Record<string, string>> {
    const cursor = new Cursor(this.#bytes, this.#headersAt);
    const headers: Record<string, string> = {};
    for (let left = cursor.varint(); left > 0; left--) {
      const name = (cursor.sized() ?? EMPTY).toString('utf8');
      headers[name] = (cursor.sized() ?? EMPTY).toString('utf8');
    }
    return headers;
  }
}

/** A place in bytes that moves on with each value read. */
class Cursor {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  /** A zigzag varint of at most 32 bits. */
  varint(): number {
    let raw = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++] ?? 0;
      raw |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (raw >>> 1) ^ -(raw & 1);
    }
  }

  /** A zigzag varint of up to 53 bits: the differences of timestamps can be long. */
  varlong(): number {
    let raw = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.bytes[this.at++] ?? 0;
      raw += (byte & 0x7f) * factor;
      if (byte < 0x80) return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2;
    }
  }

  /** Bytes with their length before them; a length of -1 is null. */
  sized(): Buffer | null {
    const length = this.varint();
    if (length < 0) return null;
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

function decompress(bytes: Buffer, compression: number): Buffer {
  if (compression === 1) return gunzipSync(bytes);
  if (compression === 4) return zstdDecompressSync(bytes);
  throw new KafkaFailure(
    'KAFKA_REFUSED',
    'A record batch is compressed with snappy or lz4, which is not read here: set compression.type=producer (or gzip, zstd) on the topics.',
  );
}

/** A signed 64-bit integer that is exact as a JavaScript number, as offsets, ids and times are. */
export const readLong = (bytes: Buffer, at: number): number =>
  bytes.readInt32BE(at) * TWO_TO_32 + bytes.readUInt32BE(at + 4);
