/** S3's smallest part; 10,000 of them, which is the most, are 48 GiB. */
export const PART_BYTES = 5 * 1024 * 1024;

/**
 * Buffers of one part each that are used again and again. Freshly allocated ones would pile up until the
 * garbage collector looks at them, which is some hundred megabytes later.
 */
export class PartBuffers {
  readonly #free: Buffer[] = [];

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(PART_BYTES);
  }

  /** Only for a buffer that nothing reads any more. */
  giveBack(buffer: Buffer): void {
    this.#free.push(buffer);
  }
}
