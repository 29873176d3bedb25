/** The group's offsets need not be more recent for those who watch its lag. */
const SAY_EVERY_MS = 1_000;

/**
 * When a transaction also tells the consumer group how far the commands of a lane's partitions are decided.
 * Where the ledger goes on stands in wallet.state, written with each transaction; the group's offsets are for
 * those who watch the lag, and for a state that must be rebuilt from the events. It costs the broker more than
 * all the rest of a small transaction, so it is told once a second, and with every refusal: a command after
 * the group's offset may be decided again, accepted ones are then known by their events, refused ones leave none.
 */
export class GroupOffsets {
  readonly #told = new Map<number, number>();
  #toldAtMs = 0;

  /**
   * What the transaction that decides the commands before `nextOffsets`, by partition, has to tell; empty
   * when nothing is due.
   */
  due(
    nextOffsets: ReadonlyMap<number, number>,
    nowMs: number,
    { hasRefusals = false } = {},
  ): ReadonlyMap<number, number> {
    if (!hasRefusals && nowMs - this.#toldAtMs < SAY_EVERY_MS) return new Map();
    return new Map([...nextOffsets].filter(([partition, offset]) => offset !== this.#told.get(partition)));
  }

  /** Takes note of a committed transaction that told these. */
  told(offsets: ReadonlyMap<number, number>, nowMs: number): void {
    for (const [partition, offset] of offsets) this.#told.set(partition, offset);
    this.#toldAtMs = nowMs;
  }
}
