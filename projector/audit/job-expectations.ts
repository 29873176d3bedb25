import type { AnyRecord } from '#schemas/codec.ts';
import type { RecordTypes } from '#schemas/records.ts';
import type { WalletEvent } from '#schemas/wallet.ts';
import type { EventPlace } from './fault.ts';

/** How a job and its clips must stand in Postgres, as far as the log has been read. */
export type ExpectedJob = {
  place: EventPlace | undefined;
  teamId: number;
  debitId: string;
  itemCount: number;
  costCents: number;
  firstClipId: number | null;
  clipIdStep: number;
  /** By item: the first terminal event of each clip. */
  readonly ends: Map<number, Readonly<{ status: 'completed' | 'failed'; eventId: string }>>;
  readonly settlements: Map<number, 'captured' | 'refunded'>;
};

/** Folds jobs as the projector does, in memory, whatever the order of the topics. */
export class JobExpectations {
  readonly #jobs = new Map<string, ExpectedJob>();

  /** The jobs that were requested. */
  get requested(): readonly (readonly [string, ExpectedJob])[] {
    return [...this.#jobs].filter(([, job]) => job.place !== undefined);
  }

  isRequested(jobId: string): boolean {
    return this.#jobs.get(jobId)?.place !== undefined;
  }

  acceptJobEvent(place: EventPlace, event: AnyRecord): void {
    if (event.name === 'JobRequested') this.#request(place, event.value);
    else if (event.name === 'ClipCompleted') this.#end(event.value, 'completed');
    else if (event.name === 'ClipFailed') this.#end(event.value, 'failed');
  }

  acceptWalletEvent(event: WalletEvent): void {
    if (event.name !== 'WalletRefunded' && event.name !== 'ChargeCaptured') return;
    const { settlements } = this.#job(event.value.job_id);
    if (!settlements.has(event.value.item))
      settlements.set(event.value.item, event.name === 'WalletRefunded' ? 'refunded' : 'captured');
  }

  #request(place: EventPlace, request: RecordTypes['JobRequested']): void {
    const job = this.#job(request.job_id);
    if (job.place !== undefined) return;
    Object.assign(job, {
      place,
      teamId: request.team_id,
      debitId: request.debit_id,
      itemCount: request.item_count,
      costCents: request.item_count * request.item_cents,
      firstClipId: request.first_clip_id,
      clipIdStep: request.clip_id_step,
    });
  }

  #end(
    event: RecordTypes['ClipCompleted'] | RecordTypes['ClipFailed'],
    status: 'completed' | 'failed',
  ): void {
    const job = this.#jobs.get(event.job_id);
    if (job?.place === undefined || event.item < 0 || event.item >= job.itemCount || job.ends.has(event.item))
      return;
    job.ends.set(event.item, { status, eventId: event.event_id });
  }

  #job(jobId: string): ExpectedJob {
    const known = this.#jobs.get(jobId);
    if (known !== undefined) return known;
    const job: ExpectedJob = {
      place: undefined,
      teamId: 0,
      debitId: '',
      itemCount: 0,
      costCents: 0,
      firstClipId: null,
      clipIdStep: 1,
      ends: new Map(),
      settlements: new Map(),
    };
    this.#jobs.set(jobId, job);
    return job;
  }
}

/** The status by the rule that a job is completed once all its clips are terminal and all failed ones settled. */
export function expectedStatus(job: ExpectedJob): 'processing' | 'completed' {
  if (job.firstClipId === null) return 'processing';
  const isDone = (item: number) => {
    const end = job.ends.get(item);
    return end !== undefined && (end.status === 'completed' || job.settlements.has(item));
  };
  return Array.from({ length: job.itemCount }, (_, item) => item).every(isDone) ? 'completed' : 'processing';
}

/** One line per clip, as `describeClip` gives for a row. */
export function expectedClips(job: ExpectedJob): readonly string[] {
  const { firstClipId } = job;
  if (firstClipId === null) return [];
  return Array.from({ length: job.itemCount }, (_, item) => {
    const end = job.ends.get(item);
    return describeClip({
      clipId: firstClipId + item * job.clipIdStep,
      status: end?.status ?? 'processing',
      terminalEventId: end?.eventId ?? null,
      settlement: job.settlements.get(item) ?? null,
    });
  });
}

export const describeClip = (clip: {
  readonly clipId: number;
  readonly status: string;
  readonly terminalEventId: string | null;
  readonly settlement: string | null;
}): string =>
  `clip ${clip.clipId} ${clip.status} by ${clip.terminalEventId ?? 'no event'}, ${clip.settlement ?? 'not settled'}`;
