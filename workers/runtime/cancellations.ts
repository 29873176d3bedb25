import type { AnyRecord } from '#schemas/codec.ts';
import { cancelledCode } from '#schemas/failure-codes.ts';
import type { ClipFailed, SwapFailed } from '#schemas/records.ts';

/** Why the signal of a running task aborts when its job was called off. */
export class JobCancelled extends Error {
  override readonly name = 'JobCancelled';
}

export type CancelledItem =
  | Readonly<{ name: 'ClipFailed'; value: ClipFailed }>
  | Readonly<{ name: 'SwapFailed'; value: SwapFailed }>;

/** The record as an item that its client called off, or undefined for everything else. */
export function cancelledItem(record: AnyRecord): CancelledItem | undefined {
  if (record.name !== 'ClipFailed' && record.name !== 'SwapFailed') return undefined;
  return record.value.code === cancelledCode ? record : undefined;
}

/** Far more than are called off while one task waits; a job that is forgotten is only worked on in vain. */
const maxRemembered = 10_000;

/**
 * The jobs that were called off, as far as this worker has heard. Calling off ends all of a job that has not
 * ended, so none of its tasks has anything left to do.
 */
export class Cancellations {
  readonly #cancelled = new Set<string>();
  readonly #running = new Map<string, Set<AbortController>>();

  /** The job was called off: what runs of it here is stopped, and nothing more of it starts. */
  note(jobId: string): void {
    if (this.#cancelled.has(jobId)) return;
    this.#cancelled.add(jobId);
    const [oldest] = this.#cancelled;
    if (this.#cancelled.size > maxRemembered && oldest !== undefined) this.#cancelled.delete(oldest);
    for (const controller of this.#running.get(jobId) ?? []) controller.abort(cancelledReason());
  }

  /** Calls `work` with a signal that is aborted once the job is called off, or has been already. */
  async heeding<Result>(jobId: string, work: (cancelled: AbortSignal) => Promise<Result>): Promise<Result> {
    const controller = new AbortController();
    if (this.#cancelled.has(jobId)) controller.abort(cancelledReason());
    const running = this.#running.get(jobId) ?? new Set();
    this.#running.set(jobId, running.add(controller));
    try {
      return await work(controller.signal);
    } finally {
      running.delete(controller);
      if (running.size === 0) this.#running.delete(jobId);
    }
  }
}

const cancelledReason = () => new JobCancelled('The job was called off.');
