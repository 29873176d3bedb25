import { readLong } from './record-batches.ts';

/** Reads an answer of a flexible version from its start on. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  int16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  /** A signed integer of 64 bits that is exact as a number. */
  int64(): number {
    this.#at += 8;
    return readLong(this.#bytes, this.#at - 8);
  }

  unsignedVarint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  /** A text with its length plus one before it; null is read as an empty one. */
  compactText(): string {
    const length = Math.max(0, this.unsignedVarint() - 1);
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }

  /** Items with their count plus one before them. */
  compactArray<Item>(read: () => Item): readonly Item[] {
    return Array.from({ length: Math.max(0, this.unsignedVarint() - 1) }, read);
  }

  /** Calls `onTag` for each tagged field with a reader of its content. */
  tags(onTag: (tag: number, content: ByteReader) => void = () => undefined): void {
    for (let left = this.unsignedVarint(); left > 0; left--) {
      const tag = this.unsignedVarint();
      const length = this.unsignedVarint();
      onTag(tag, new ByteReader(this.#bytes, this.#at));
      this.#at += length;
    }
  }
}
