/**
 * Counts the look-ups of keys that did not work, per client address, in fixed windows of a minute.
 * It guards the database against guessing, not the keys: those have 178 random bits. The limit is generous,
 * since many clients can share one address, and a key that has worked lately is never held up by it.
 */

const WINDOW_MS = 60_000;
const FAILURES_PER_WINDOW = 300;
/** Beyond so many addresses or keys the oldest are forgotten. */
const REMEMBERED = 10_000;

type Window = { readonly startedAtMs: number; failures: number };

export class FailedAuthentications {
  readonly #windows = new Map<string, Window>();
  readonly #workedAtMs = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Seconds until `address` may try `keyHash`; 0 when it may now. */
  waitSeconds(address: string, keyHash: Buffer): number {
    const window = this.#windows.get(address);
    if (window === undefined || window.failures < FAILURES_PER_WINDOW) return 0;
    const waitMs = window.startedAtMs + WINDOW_MS - this.#now();
    if (waitMs <= 0 || this.#hasWorkedLately(keyHash)) return 0;
    return Math.ceil(waitMs / 1_000);
  }

  /** A key from `address` did not work. */
  failed(address: string): void {
    const window = this.#windows.get(address);
    if (window !== undefined && window.startedAtMs + WINDOW_MS > this.#now()) {
      window.failures += 1;
      return;
    }
    this.#windows.delete(address);
    this.#windows.set(address, { startedAtMs: this.#now(), failures: 1 });
    forgetOldest(this.#windows);
  }

  /** A key worked. */
  worked(keyHash: Buffer): void {
    const id = keyHash.toString('base64');
    this.#workedAtMs.delete(id);
    this.#workedAtMs.set(id, this.#now());
    forgetOldest(this.#workedAtMs);
  }

  #hasWorkedLately(keyHash: Buffer): boolean {
    const workedAtMs = this.#workedAtMs.get(keyHash.toString('base64'));
    return workedAtMs !== undefined && this.#now() - workedAtMs < 10 * WINDOW_MS;
  }
}

/** Maps keep the order of insertion, so the first entry is the oldest. */
function forgetOldest(map: Map<string, unknown>): void {
  if (map.size <= REMEMBERED) return;
  const oldest = map.keys().next();
  if (!oldest.done) map.delete(oldest.value);
}
