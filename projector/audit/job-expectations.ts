import type { AnyRecord } from '#schemas/codec.ts';
import { isFaceSwap, SWAP_ITEM } from '#schemas/job.ts';
import type { RecordTypes } from '#schemas/records.ts';
import type { WalletEvent } from '#schemas/wallet.ts';
import type { EventPlace } from './fault.ts';

/** How a job and its clips or its swap must stand in Postgres, as far as the log has been read. */
export type ExpectedJob = {
  place: EventPlace | undefined;
  teamId: number;
  debitId: string;
  itemCount: number;
  costCents: number;
  firstClipId: number | null;
  clipIdStep: number;
  /** What was asked for of a face swap, as `describeSwap` begins; undefined for clips. */
  swapTerms: SwapTerms | undefined;
  /** By item: the first terminal event of each clip, or of the swap. */
  readonly ends: Map<number, Readonly<{ status: 'completed' | 'failed'; eventId: string }>>;
  readonly settlements: Map<number, 'captured' | 'refunded'>;
};

type SwapTerms = Readonly<{ mode: string; durationSeconds: number }>;

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
    else if (event.name === 'ClipCompleted') this.#endClip(event.value, 'completed');
    else if (event.name === 'ClipFailed') this.#endClip(event.value, 'failed');
    else if (event.name === 'SwapCompleted') this.#endSwap(event.value, 'completed');
    else if (event.name === 'SwapFailed') this.#endSwap(event.value, 'failed');
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
      swapTerms: swapTermsOf(request),
    });
  }

  #endClip(
    event: RecordTypes['ClipCompleted'] | RecordTypes['ClipFailed'],
    status: 'completed' | 'failed',
  ): void {
    const job = this.#jobs.get(event.job_id);
    if (job?.place === undefined || job.firstClipId === null) return;
    if (event.item < 0 || event.item >= job.itemCount || job.ends.has(event.item)) return;
    job.ends.set(event.item, { status, eventId: event.event_id });
  }

  #endSwap(
    event: RecordTypes['SwapCompleted'] | RecordTypes['SwapFailed'],
    status: 'completed' | 'failed',
  ): void {
    const job = this.#jobs.get(event.job_id);
    if (job?.swapTerms === undefined || job.ends.has(SWAP_ITEM)) return;
    job.ends.set(SWAP_ITEM, { status, eventId: event.event_id });
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
      swapTerms: undefined,
      ends: new Map(),
      settlements: new Map(),
    };
    this.#jobs.set(jobId, job);
    return job;
  }
}

const swapTermsOf = (request: RecordTypes['JobRequested']): SwapTerms | undefined =>
  isFaceSwap(request) && request.face_swap !== null
    ? { mode: request.face_swap.mode, durationSeconds: request.face_swap.duration_seconds }
    : undefined;

/**
 * The status by the rules that a clip job is completed once all its clips are terminal and all failed ones
 * settled, and that a face swap is failed once it is settled.
 */
export function expectedStatus(job: ExpectedJob): 'processing' | 'completed' | 'failed' {
  const isDone = (item: number) => {
    const end = job.ends.get(item);
    return end !== undefined && (end.status === 'completed' || job.settlements.has(item));
  };
  if (job.swapTerms !== undefined)
    return isDone(SWAP_ITEM) ? (job.ends.get(SWAP_ITEM)?.status ?? 'processing') : 'processing';
  if (job.firstClipId === null) return 'processing';
  return Array.from({ length: job.itemCount }, (_, item) => item).every(isDone) ? 'completed' : 'processing';
}

/** One line per clip, as `describeClip` gives for a row, or the one of the swap, as `describeSwap` does. */
export function expectedItems(job: ExpectedJob): readonly string[] {
  const { firstClipId, swapTerms } = job;
  if (swapTerms !== undefined) return [describeSwap({ ...swapTerms, ...expectedItem(job, SWAP_ITEM) })];
  if (firstClipId === null) return [];
  return Array.from({ length: job.itemCount }, (_, item) =>
    describeClip({ clipId: firstClipId + item * job.clipIdStep, ...expectedItem(job, item) }),
  );
}

type Item = Readonly<{ status: string; terminalEventId: string | null; settlement: string | null }>;

function expectedItem(job: ExpectedJob, item: number): Item {
  const end = job.ends.get(item);
  return {
    status: end?.status ?? 'processing',
    terminalEventId: end?.eventId ?? null,
    settlement: job.settlements.get(item) ?? null,
  };
}

export const describeClip = (clip: Item & { readonly clipId: number }): string =>
  `clip ${clip.clipId} ${describeItem(clip)}`;

export const describeSwap = (swap: Item & SwapTerms): string =>
  `swap (${swap.mode}) of ${swap.durationSeconds} s ${describeItem(swap)}`;

const describeItem = (item: Item): string =>
  `${item.status} by ${item.terminalEventId ?? 'no event'}, ${item.settlement ?? 'not settled'}`;
