/** Lets loops sleep until something changes. A `wake` that comes before `next` counts. */
export class Wakeup {
  #waiting: (() => void)[] = [];
  #isPending = false;

  /** Resolves at the next `wake`, or at once when one came since the last call. */
  next(): Promise<void> {
    if (this.#isPending) {
      this.#isPending = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#isPending = waiting.length === 0;
    for (const resolve of waiting) resolve();
  }
}
