import { unlessAborted } from '../../runtime/unless-aborted.ts';

/** Work of which there is one at a time for each job in this process, in the order in which it was asked for. */
export class JobTurns {
  readonly #last = new Map<string, Promise<void>>();

  /** Does `work` after all earlier work of the job, however that ended. Rejects when `signal` aborts before. */
  async take<Result>(jobId: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(jobId) ?? Promise.resolve();
    const own = Promise.withResolvers<void>();
    // Also where this one is aborted while it waits: the next still comes after those before.
    const last = before.then(() => own.promise);
    this.#last.set(jobId, last);
    try {
      await unlessAborted(before, signal);
      return await work();
    } finally {
      own.resolve();
      if (this.#last.get(jobId) === last) this.#last.delete(jobId);
    }
  }
}
