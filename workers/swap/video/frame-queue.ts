/** Hands things from a producer to a consumer in order, and makes the producer wait while `capacity` are on their way. */
export class FrameQueue<Item> {
  readonly #capacity: number;
  readonly #items: Item[] = [];
  #isEnded = false;
  #error: unknown;
  #wake: (() => void)[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Adds an item; resolves when the next may come. Throws when the queue was ended, by whichever side. */
  async push(item: Item): Promise<void> {
    if (this.#isEnded) throw this.#error ?? new Error('Nobody takes from this queue any more.');
    this.#items.push(item);
    this.#notify();
    while (this.#items.length >= this.#capacity && !this.#isEnded) await this.#change();
    if (this.#error !== undefined) throw this.#error;
  }

  /** No more will come; with an error, the consumer gets it once it has taken what is there. */
  end(error?: unknown): void {
    this.#isEnded = true;
    this.#error ??= error;
    this.#notify();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    while (true) {
      const item = this.#items.shift();
      if (item !== undefined) {
        this.#notify();
        yield item;
      } else if (this.#isEnded) {
        if (this.#error !== undefined) throw this.#error;
        return;
      } else await this.#change();
    }
  }

  async #change(): Promise<void> {
    await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  #notify(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const resolve of waiting) resolve();
  }
}
