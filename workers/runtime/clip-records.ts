import type { RecordToAppend } from '#infra/kafka/record.ts';
import { cloudEventHeaders } from '#schemas/cloud-event-headers.ts';
import { encodeRecord } from '#schemas/codec.ts';
import { derivedUuid } from '#schemas/ids.ts';
import type { JobRequested, RenderClipTask } from '#schemas/records.ts';
import type { ClipPlan, PlannedClip, RenderedClip } from '../clip/contract.ts';
import type { ClipIdentity } from './clip-identity.ts';
import type { ClipOutcome } from './clip-outcome.ts';
import { clipKey, planKey, sheetKey } from './object-keys.ts';

/** Where a record comes from: the headers that tie it to the request and to the record that led to it. */
export type Cause = Readonly<{ causationId: string | undefined; traceparent: string | undefined }>;

/** What a record of a job says about who caused its successors. */
export const causeIn = (headers: Readonly<Record<string, string>>): Cause => ({
  causationId: headers['ce_id'],
  traceparent: headers['traceparent'],
});

const source = 'workers';

// Derived ids: a repeated task appends the same event again, never a second one.
const completedId = (clip: ClipIdentity): string => derivedUuid(clip.jobId, `clip:${clip.item}:completed`);
const failedId = (clip: ClipIdentity): string => derivedUuid(clip.jobId, `clip:${clip.item}:failed`);

const eventFields = (clip: ClipIdentity, occurredAtMs: number) => ({
  job_id: clip.jobId,
  team_id: clip.teamId,
  debit_id: clip.debitId,
  occurred_at: occurredAtMs,
  item: clip.item,
  clip_id: clip.clipId,
});

/** The end of a clip that came out well. */
export function completedClip(
  clip: ClipIdentity,
  made: { readonly planned: PlannedClip; readonly rendered: RenderedClip; readonly atMs: number },
): ClipOutcome {
  const { planned, rendered } = made;
  return {
    name: 'ClipCompleted',
    value: {
      event_id: completedId(clip),
      ...eventFields(clip, made.atMs),
      title: planned.title,
      heading: planned.heading,
      object_key: clipKey(clip.jobId, clip.clipId),
      sheet_object_key: sheetKey(clip.jobId, clip.clipId),
      duration_ms: Math.round(rendered.durationMs),
      width: rendered.width,
      height: rendered.height,
      byte_size: rendered.bytes,
      source_start_ms: Math.round(Math.min(...planned.cuts.map((cut) => cut.start_ms))),
      source_end_ms: Math.round(Math.max(...planned.cuts.map((cut) => cut.end_ms))),
      notes: planned.notes,
    },
  };
}

/** The end of a clip that could not be made; `message` is for the client. */
export function failedClip(
  clip: ClipIdentity,
  why: { readonly code: string; readonly message: string; readonly atMs: number },
): ClipOutcome {
  return {
    name: 'ClipFailed',
    value: {
      event_id: failedId(clip),
      ...eventFields(clip, why.atMs),
      code: why.code,
      error: why.message,
    },
  };
}

/** The terminal event as it goes into `job.events`. */
export function outcomeRecord(outcome: ClipOutcome, cause: Cause): RecordToAppend {
  const { value } = outcome;
  return {
    topic: 'job.events',
    key: value.job_id,
    value:
      outcome.name === 'ClipCompleted'
        ? encodeRecord('ClipCompleted', outcome.value)
        : encodeRecord('ClipFailed', outcome.value),
    headers: cloudEventHeaders({
      id: value.event_id,
      type: outcome.name,
      source,
      timeMs: value.occurred_at,
      subject: value.job_id,
      correlationId: value.job_id,
      ...cause,
    }),
  };
}

/** The clips of `plan`, as tasks, that are not in `ended`. */
export function renderTasks(
  request: JobRequested,
  about: {
    readonly clips: readonly ClipIdentity[];
    readonly plan: ClipPlan;
    readonly sourceObjectKey: string;
    readonly ended: ReadonlySet<number>;
    readonly atMs: number;
  },
): readonly RenderClipTask[] {
  const { clip: options } = request;
  if (options === null) throw new Error(`Clip job ${request.job_id} has no clip options.`);
  const planned = new Set(about.plan.clips.map((clip) => clip.item));
  return about.clips
    .filter(({ item }) => planned.has(item) && !about.ended.has(item))
    .map((clip) => ({
      task_id: `${clip.jobId}/${clip.item}`,
      job_id: clip.jobId,
      team_id: clip.teamId,
      debit_id: clip.debitId,
      item: clip.item,
      clip_id: clip.clipId,
      plan_object_key: planKey(clip.jobId),
      source_object_key: about.sourceObjectKey,
      requested_at: about.atMs,
      deadline_at: request.deadline_at,
      attempt: 1,
      clip: options,
    }));
}

/** A render task as it goes into `job.tasks`. */
export function taskRecord(task: RenderClipTask, cause: Cause): RecordToAppend {
  return {
    topic: 'job.tasks',
    key: task.task_id,
    value: encodeRecord('RenderClipTask', task),
    headers: cloudEventHeaders({
      id: derivedUuid(task.job_id, `clip:${task.item}:task:${task.attempt}`),
      type: 'RenderClipTask',
      source,
      timeMs: task.requested_at,
      subject: task.job_id,
      correlationId: task.job_id,
      ...cause,
    }),
  };
}
