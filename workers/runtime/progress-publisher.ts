import type { RecordToAppend } from '#infra/kafka/record.ts';
import { cloudEventHeaders } from '#schemas/cloud-event-headers.ts';
import { encodeRecord } from '#schemas/codec.ts';
import type { JobProgressed } from '#schemas/records.ts';
import type { ProgressStage } from '../clip/contract.ts';

/** The stages that clients see. */
export type JobStage = 'fetch' | 'analyse' | 'plan' | 'render' | 'upload';

/** The stage of the job that a stage of the pipeline belongs to. */
export function jobStage(stage: ProgressStage): JobStage {
  switch (stage) {
    case 'fetching':
      return 'fetch';
    case 'probing':
    case 'analysing':
      return 'analyse';
    case 'choosing':
      return 'plan';
    case 'rendering':
    case 'checking':
      return 'render';
  }
}

const minIntervalMs = 1_000;
const maxRememberedJobs = 1_000;

/**
 * Says on `job.progress` where jobs are: at most once a second for a job, and one append at a time, so that
 * progress never queues up before a terminal event. What does not fit or does not arrive is left out.
 */
export class ProgressPublisher {
  readonly #append: (records: readonly RecordToAppend[]) => Promise<unknown>;
  readonly #now: () => number;
  readonly #lastMs = new Map<string, number>();
  #isAppending = false;

  constructor(append: (records: readonly RecordToAppend[]) => Promise<unknown>, now: () => number) {
    this.#append = append;
    this.#now = now;
  }

  /** The job has done `fraction` of `stage`. */
  report(job: { readonly jobId: string; readonly teamId: number }, stage: JobStage, fraction: number): void {
    const nowMs = this.#now();
    const lastMs = this.#lastMs.get(job.jobId) ?? Number.NEGATIVE_INFINITY;
    if (this.#isAppending || nowMs - lastMs < minIntervalMs) return;
    this.#remember(job.jobId, nowMs);
    this.#isAppending = true;
    const record = progressRecord({
      job_id: job.jobId,
      team_id: job.teamId,
      occurred_at: nowMs,
      stage,
      fraction: Math.min(1, Math.max(0, fraction)),
    });
    this.#append([record])
      .catch(() => undefined)
      .finally(() => {
        this.#isAppending = false;
      });
  }

  #remember(jobId: string, nowMs: number): void {
    this.#lastMs.delete(jobId);
    this.#lastMs.set(jobId, nowMs);
    const [oldest] = this.#lastMs.keys();
    if (this.#lastMs.size > maxRememberedJobs && oldest !== undefined) this.#lastMs.delete(oldest);
  }
}

function progressRecord(progress: JobProgressed): RecordToAppend {
  return {
    topic: 'job.progress',
    key: progress.job_id,
    value: encodeRecord('JobProgressed', progress),
    headers: cloudEventHeaders({
      id: crypto.randomUUID(),
      type: 'JobProgressed',
      source: 'workers',
      timeMs: progress.occurred_at,
      subject: progress.job_id,
      correlationId: progress.job_id,
    }),
  };
}
