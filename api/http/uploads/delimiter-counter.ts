const CRLF = Buffer.from('\r\n');
const DASH = 0x2d;

/**
 * Counts the parts of a multipart body by its delimiters. The parser passes over parts that it cannot make
 * sense of; a client that sent one must hear of it, so the parser's count is held against this one.
 */
export class DelimiterCounter {
  readonly #needle: Buffer;
  /** What was seen and not decided yet; a body may begin with the delimiter as if a line break were before it. */
  #carry: Buffer = CRLF;
  #delimiters = 0;
  #isClosed = false;

  constructor(boundary: string) {
    this.#needle = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  /** Whether the last delimiter, the one with two dashes, was there. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get partCount(): number {
    return this.#isClosed ? this.#delimiters - 1 : this.#delimiters;
  }

  push(chunk: Buffer): void {
    // Only the seam with the chunk before is copied; what stays undecided is never longer than this.
    const seamBytes = this.#needle.length + 1;
    this.#scan(Buffer.concat([this.#carry, chunk.subarray(0, seamBytes)]));
    if (chunk.length <= seamBytes || this.#isClosed) return;
    this.#scan(chunk.subarray(seamBytes - this.#carry.length));
  }

  #scan(bytes: Buffer): void {
    const needle = this.#needle;
    for (let from = 0; !this.#isClosed; ) {
      const at = bytes.indexOf(needle, from);
      const end = at + needle.length;
      if (at === -1 || bytes.length < end + 2) {
        const undecided = at === -1 ? Math.max(from, bytes.length - needle.length + 1) : at;
        this.#carry = Buffer.from(bytes.subarray(undecided));
        return;
      }
      this.#delimiters += 1;
      this.#isClosed = bytes[end] === DASH && bytes[end + 1] === DASH;
      from = end;
    }
  }
}
