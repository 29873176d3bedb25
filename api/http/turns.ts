/**
 * Work of which only so much goes on at a time, and so much of one team: the rest waits for its turn, in order,
 * and the slow work of one team does not keep the others waiting.
 */
export class Turns {
  readonly #limits: Readonly<{ atOnce: number; ofTeam: number; waiting: number }>;
  readonly #running = new Map<number, number>();
  readonly #waiting = new Set<Readonly<{ teamId: number; start: () => void }>>();
  #count = 0;

  constructor(limits: { readonly atOnce: number; readonly ofTeam: number; readonly waiting: number }) {
    this.#limits = limits;
  }

  /** Does `work` when its turn comes; undefined when too many wait, or `signal` aborts before it began. */
  async take<Result>(
    teamId: number,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    if (!(await this.#turn(teamId, signal))) return undefined;
    try {
      return await work();
    } finally {
      this.#leave(teamId);
    }
  }

  async #turn(teamId: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#isFree(teamId)) {
      this.#enter(teamId);
      return true;
    }
    if (this.#waiting.size >= this.#limits.waiting) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { teamId, start: () => resolve(true) };
    const giveUp = () => {
      if (this.#waiting.delete(waiter)) resolve(false);
    };
    this.#waiting.add(waiter);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  #isFree(teamId: number): boolean {
    return this.#count < this.#limits.atOnce && (this.#running.get(teamId) ?? 0) < this.#limits.ofTeam;
  }

  #enter(teamId: number): void {
    this.#count += 1;
    this.#running.set(teamId, (this.#running.get(teamId) ?? 0) + 1);
  }

  #leave(teamId: number): void {
    this.#count -= 1;
    const left = (this.#running.get(teamId) ?? 1) - 1;
    if (left === 0) this.#running.delete(teamId);
    else this.#running.set(teamId, left);
    for (const waiter of this.#waiting) {
      if (!this.#isFree(waiter.teamId)) continue;
      this.#waiting.delete(waiter);
      this.#enter(waiter.teamId);
      waiter.start();
    }
  }
}
