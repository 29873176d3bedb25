/**
 * Which records of one partition are still being worked on, so that tasks may finish in any order while
 * only what is done for good is committed: a crash repeats the unfinished tasks and those behind them,
 * and the latter find their finished output.
 */
export class UnfinishedOffsets {
  readonly #unfinished = new Set<number>();
  #next: number | undefined;
  #committed: number | undefined;

  /** How many taken records are not finished. */
  get count(): number {
    return this.#unfinished.size;
  }

  /**
   * Takes the record at `offset`. False when it was taken before: after a rebalance the broker hands out
   * everything from the committed offset again, also what is still running here.
   */
  take(offset: number): boolean {
    if (this.#next !== undefined && offset < this.#next) return false;
    this.#unfinished.add(offset);
    this.#next = offset + 1;
    return true;
  }

  /** Moves past offsets that hold no records of interest (transaction markers) up to `nextOffset`. */
  passTo(nextOffset: number): void {
    if (this.#next === undefined || nextOffset > this.#next) this.#next = nextOffset;
  }

  /** The record at `offset` is done for good. */
  finish(offset: number): void {
    this.#unfinished.delete(offset);
  }

  /** The offset to commit: everything below it is done. Undefined when the last commit said so already. */
  uncommittedPosition(): number | undefined {
    // A Set keeps the order of insertion, and offsets are only ever taken in rising order.
    const [lowest] = this.#unfinished;
    const position = lowest ?? this.#next;
    return position === this.#committed ? undefined : position;
  }

  /** `position` is at the broker now. */
  markCommitted(position: number): void {
    this.#committed = position;
  }

  /** What the broker holds is in doubt (a new generation of the group): the next position is committed anew. */
  forgetCommit(): void {
    this.#committed = undefined;
  }
}
