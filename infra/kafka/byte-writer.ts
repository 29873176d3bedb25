/** The most that a varint of 32 bits takes. */
const VARINT_BYTES = 5;

/** A buffer that is written from its start on, and grows. Numbers are in network order, as Kafka has them. */
export class ByteWriter {
  #bytes: Buffer;
  #at = 0;

  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafe(bytes);
  }

  /** How much is written. */
  get length(): number {
    return this.#at;
  }

  /** What is written so far, not copied. */
  get written(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  int8(value: number): void {
    this.#ensure(1);
    this.#at = this.#bytes.writeInt8(value, this.#at);
  }

  int16(value: number): void {
    this.#ensure(2);
    this.#at = this.#bytes.writeInt16BE(value, this.#at);
  }

  int32(value: number): void {
    this.#ensure(4);
    this.#at = this.#bytes.writeInt32BE(value, this.#at);
  }

  int64(value: number): void {
    this.#ensure(8);
    this.#at = this.#bytes.writeBigInt64BE(BigInt(value), this.#at);
  }

  /** A zigzag varint of 32 bits, as in records. */
  varint(value: number): void {
    this.unsignedVarint(((value << 1) ^ (value >> 31)) >>> 0);
  }

  /** A varint of up to 32 bits, as in requests of flexible versions. */
  unsignedVarint(value: number): void {
    this.#ensure(5);
    let raw = value;
    for (; raw >= 0x80; raw >>>= 7) this.#bytes[this.#at++] = (raw & 0x7f) | 0x80;
    this.#bytes[this.#at++] = raw;
  }

  /** Bytes or a text with their length as a zigzag varint before them, as in records; a length of -1 is null. */
  sized(content: Buffer | string | null): void {
    if (content === null) this.varint(-1);
    else if (typeof content === 'string') this.#sizedText(content);
    else {
      this.varint(content.length);
      this.content(content);
    }
  }

  /** What is written from here to `endSized` gets its length before it, as a zigzag varint. */
  beginSized(): number {
    this.#ensure(VARINT_BYTES);
    this.#at += VARINT_BYTES;
    return this.#at;
  }

  endSized(start: number): void {
    const end = this.#at;
    this.#at = start - VARINT_BYTES;
    this.varint(end - start);
    this.#bytes.copyWithin(this.#at, start, end);
    this.#at += end - start;
  }

  /** Measured by writing it where it belongs if each character is one byte, as nearly always. */
  #sizedText(text: string): void {
    this.#ensure(VARINT_BYTES + text.length * 3);
    const start = this.#at + varintBytes(text.length);
    const length = this.#bytes.write(text, start, 'utf8');
    this.varint(length);
    this.#at += this.#at === start ? length : this.#bytes.write(text, this.#at, 'utf8');
  }

  /** A text with its length in two bytes before it; -1 is null. */
  nullableText(text: string | null): void {
    this.int16(text === null ? -1 : Buffer.byteLength(text));
    if (text !== null) this.content(text);
  }

  /** A text of a flexible version: its length plus one as a varint before it; 0 is null. */
  compactText(text: string | null): void {
    this.unsignedVarint(text === null ? 0 : Buffer.byteLength(text) + 1);
    if (text !== null) this.content(text);
  }

  /** An array of a flexible version: its length plus one as a varint before it. */
  compactArray<Item>(items: readonly Item[], write: (item: Item) => void): void {
    this.unsignedVarint(items.length + 1);
    for (const item of items) write(item);
  }

  /** The tagged fields at the end of a structure of a flexible version: none. */
  noTags(): void {
    this.int8(0);
  }

  /** Bytes or a text as they are. */
  content(content: Buffer | string): void {
    this.#ensure(typeof content === 'string' ? content.length * 3 : content.length);
    this.#at +=
      typeof content === 'string'
        ? this.#bytes.write(content, this.#at, 'utf8')
        : content.copy(this.#bytes, this.#at);
  }

  /** Room for what is known only later. */
  zeros(count: number): void {
    this.#ensure(count);
    this.#bytes.fill(0, this.#at, this.#at + count);
    this.#at += count;
  }

  #ensure(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + more));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

/** Bytes of a zigzag varint of a number that is not negative. */
function varintBytes(value: number): number {
  let bytes = 1;
  for (let raw = value * 2; raw >= 0x80; raw /= 128) bytes += 1;
  return bytes;
}
