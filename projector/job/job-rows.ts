import type { Named } from '#schemas/codec.ts';
import { clipId, isFaceSwap } from '#schemas/job.ts';
import type { JobRecords, RecordTypes } from '#schemas/records.ts';

/** What job events become in the tables. Pure. */

export type JobRequested = RecordTypes['JobRequested'];
export type TerminalClipEvent = Named<Pick<JobRecords, 'ClipCompleted' | 'ClipFailed'>>;
export type TerminalSwapEvent = Named<Pick<JobRecords, 'SwapCompleted' | 'SwapFailed'>>;
export type TerminalEvent = TerminalClipEvent | TerminalSwapEvent;
export type JobProgressed = RecordTypes['JobProgressed'];

export type ClipRow = Readonly<{ clipId: number; jobId: string; item: number; createdAtMs: number }>;

/** How a clip ended, by its first terminal event. */
export type ClipEndRow = Readonly<{
  jobId: string;
  item: number;
  status: 'completed' | 'failed';
  eventId: string;
  finishedAtMs: number;
  title: string | null;
  heading: string | null;
  error: string | null;
  objectKey: string | null;
  durationMs: number | null;
}>;

/** The clips that a job was requested with; none for jobs of another kind. */
export function clipRows(request: JobRequested): readonly ClipRow[] {
  if (request.first_clip_id === null) return [];
  return Array.from({ length: request.item_count }, (_, item) => ({
    clipId: clipId(request, item) ?? 0,
    jobId: request.job_id,
    item,
    createdAtMs: request.occurred_at,
  }));
}

/** The first terminal event of each clip among `events`. */
export function clipEndRows(events: readonly TerminalClipEvent[]): readonly ClipEndRow[] {
  const first = new Map<string, ClipEndRow>();
  for (const event of events) {
    const key = `${event.value.job_id}/${event.value.item}`;
    if (!first.has(key)) first.set(key, clipEndRow(event));
  }
  return [...first.values()];
}

export function clipEndRow(event: TerminalClipEvent): ClipEndRow {
  const shared = {
    jobId: event.value.job_id,
    item: event.value.item,
    eventId: event.value.event_id,
    finishedAtMs: event.value.occurred_at,
  };
  switch (event.name) {
    case 'ClipCompleted':
      return {
        ...shared,
        status: 'completed',
        title: event.value.title,
        heading: event.value.heading,
        error: null,
        objectKey: event.value.object_key,
        durationMs: event.value.duration_ms,
      };
    case 'ClipFailed':
      return {
        ...shared,
        status: 'failed',
        title: null,
        heading: null,
        error: event.value.error,
        objectKey: null,
        durationMs: null,
      };
  }
}

export type SwapRow = Readonly<{ jobId: string; mode: string; durationSeconds: number }>;

/** How a face swap ended, by its first terminal event. */
export type SwapEndRow = Readonly<{
  jobId: string;
  status: 'completed' | 'failed';
  eventId: string;
  finishedAtMs: number;
  error: string | null;
  objectKey: string | null;
}>;

/** The swap that a job was requested with; none for jobs of another kind. */
export function swapRows(request: JobRequested): readonly SwapRow[] {
  if (!isFaceSwap(request) || request.face_swap === null) return [];
  const { mode, duration_seconds: durationSeconds } = request.face_swap;
  return [{ jobId: request.job_id, mode, durationSeconds }];
}

/** The first terminal event of each swap among `events`. */
export function swapEndRows(events: readonly TerminalSwapEvent[]): readonly SwapEndRow[] {
  const first = new Map<string, SwapEndRow>();
  for (const event of events)
    if (!first.has(event.value.job_id)) first.set(event.value.job_id, swapEndRow(event));
  return [...first.values()];
}

function swapEndRow(event: TerminalSwapEvent): SwapEndRow {
  const shared = {
    jobId: event.value.job_id,
    eventId: event.value.event_id,
    finishedAtMs: event.value.occurred_at,
  };
  switch (event.name) {
    case 'SwapCompleted':
      return { ...shared, status: 'completed', error: null, objectKey: event.value.object_key };
    case 'SwapFailed':
      return { ...shared, status: 'failed', error: event.value.error, objectKey: null };
  }
}

/** Where a job is: its newest stage and when that was said, and the furthest that it has come. */
export type Progress = Readonly<{ stage: string; atMs: number; percent: number }>;

/** The progress of each job among `events`, in their order. */
export function progressByJob(events: readonly JobProgressed[]): ReadonlyMap<string, Progress> {
  const progress = new Map<string, Progress>();
  for (const { job_id: jobId, occurred_at: atMs, stage, fraction } of events) {
    const percent = Math.max(progress.get(jobId)?.percent ?? 0, wholePercent(fraction));
    progress.set(jobId, { stage, atMs, percent });
  }
  return progress;
}

/** A face swap's fraction is of the whole job. Whatever a worker says, it is 0 to 100. */
const wholePercent = (fraction: number): number =>
  fraction >= 0 ? Math.floor(Math.min(1, fraction) * 100) : 0;
