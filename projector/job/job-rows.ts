import type { Named } from '#schemas/codec.ts';
import { clipId } from '#schemas/job.ts';
import type { JobRecords, RecordTypes } from '#schemas/records.ts';

/** What job events become in the tables. Pure. */

export type JobRequested = RecordTypes['JobRequested'];
export type TerminalClipEvent = Named<Pick<JobRecords, 'ClipCompleted' | 'ClipFailed'>>;
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

/** The newest stage of each job among `progress`. */
export const newestStages = (progress: readonly JobProgressed[]): ReadonlyMap<string, string> =>
  new Map(progress.map((event) => [event.job_id, event.stage]));
