/** The group's offset need not be more recent for those who watch its lag. */
const SAY_EVERY_MS = 1_000;

/**
 * When a transaction also tells the consumer group how far the commands of a partition are decided. Where
 * the ledger goes on stands in wallet.state, written with each transaction; the group's offset is for those
 * who watch the lag, and for a state that must be rebuilt from the events. It costs the broker more than
 * all the rest of a small transaction, so it is told once a second, and with every refusal: a command after
 * the group's offset may be decided again, accepted ones are then known by their events, refused ones leave none.
 */
export class GroupOffset {
  #told: number | undefined;
  #toldAtMs = 0;

  /** Whether the transaction that decides the commands before `nextOffset` has to tell it. */
  isDue(nextOffset: number, nowMs: number, { hasRefusals = false } = {}): boolean {
    return nextOffset !== this.#told && (hasRefusals || nowMs - this.#toldAtMs >= SAY_EVERY_MS);
  }

  /** Takes note of a committed transaction that told it. */
  told(nextOffset: number, nowMs: number): void {
    this.#told = nextOffset;
    this.#toldAtMs = nowMs;
  }
}
