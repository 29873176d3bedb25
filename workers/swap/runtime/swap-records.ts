import type { RecordToAppend } from '#infra/kafka/record.ts';
import { cloudEventHeaders } from '#schemas/cloud-event-headers.ts';
import { encodeRecord } from '#schemas/codec.ts';
import { derivedUuid } from '#schemas/ids.ts';
import type { JobRequested, SwapTask } from '#schemas/records.ts';
import type { Cause } from '../../runtime/clip-records.ts';
import type { SwappedVideo } from '../contract.ts';
import { swapKey, swapPlanKey, swapSheetKey } from './swap-keys.ts';
import type { SwapOutcome } from './swap-outcome.ts';

/** What every event about a swap names. */
export type SwapIdentity = Readonly<{ job_id: string; team_id: number; debit_id: string }>;

// Derived ids: a repeated task appends the same event again, never a second one.
const eventFields = ({ job_id, team_id, debit_id }: SwapIdentity, end: string, atMs: number) => ({
  event_id: derivedUuid(job_id, `swap:${end}`),
  job_id,
  team_id,
  debit_id,
  occurred_at: atMs,
});

/** The end of a swap that came out well; `notes` are what was said of the face image. */
export function completedSwap(
  swap: SwapIdentity,
  made: { readonly video: SwappedVideo; readonly notes: readonly string[]; readonly atMs: number },
): SwapOutcome {
  const { report, ...video } = made.video;
  return {
    name: 'SwapCompleted',
    value: {
      ...eventFields(swap, 'completed', made.atMs),
      object_key: swapKey(swap.job_id),
      sheet_object_key: swapSheetKey(swap.job_id),
      engine: report.engine,
      mode: report.mode,
      duration_ms: Math.round(video.durationMs),
      width: video.width,
      height: video.height,
      byte_size: video.bytes,
      frame_count: report.frame_count,
      swapped_frame_count: report.frames_swapped,
      missed_frame_count: report.frames_missed,
      segment_count: report.segments.length,
      notes: [...new Set([...made.notes, ...report.notes])],
    },
  };
}

/** The end of a swap that could not be made; `message` is for the client. */
export function failedSwap(
  swap: SwapIdentity,
  why: { readonly code: string; readonly message: string; readonly atMs: number },
): SwapOutcome {
  return {
    name: 'SwapFailed',
    value: { ...eventFields(swap, 'failed', why.atMs), code: why.code, error: why.message },
  };
}

/** The terminal event as it goes into `job.events`. */
export function swapOutcomeRecord(outcome: SwapOutcome, cause: Cause): RecordToAppend {
  const { event_id: id, job_id: jobId, occurred_at: timeMs } = outcome.value;
  return {
    topic: 'job.events',
    key: jobId,
    value:
      outcome.name === 'SwapCompleted'
        ? encodeRecord('SwapCompleted', outcome.value)
        : encodeRecord('SwapFailed', outcome.value),
    headers: headersOf({ id, type: outcome.name, timeMs, jobId }, cause),
  };
}

/** A task for each of `segments`, or one for the whole video where these are null. */
export function swapTasks(
  request: JobRequested,
  about: {
    readonly mode: string;
    readonly segments: readonly number[] | null;
    readonly videoKey: string;
    readonly faceImageKey: string;
    readonly atMs: number;
  },
): readonly SwapTask[] {
  return (about.segments ?? [null]).map((segment) => ({
    task_id: `${request.job_id}/swap/${segment ?? 'whole'}`,
    job_id: request.job_id,
    team_id: request.team_id,
    debit_id: request.debit_id,
    mode: about.mode,
    segment,
    plan_object_key: swapPlanKey(request.job_id),
    video_object_key: about.videoKey,
    face_image_object_key: about.faceImageKey,
    requested_at: about.atMs,
    deadline_at: request.deadline_at,
    attempt: 1,
  }));
}

/** A task as it goes into `job.tasks`. */
export function swapTaskRecord(task: SwapTask, cause: Cause): RecordToAppend {
  const id = derivedUuid(task.job_id, `swap:${task.segment ?? 'whole'}:task:${task.attempt}`);
  const about = { id, type: 'SwapTask', timeMs: task.requested_at, jobId: task.job_id };
  return {
    topic: 'job.tasks',
    key: task.task_id,
    value: encodeRecord('SwapTask', task),
    headers: headersOf(about, cause),
  };
}

const headersOf = (
  record: Readonly<{ id: string; type: string; timeMs: number; jobId: string }>,
  cause: Cause,
): Record<string, string> =>
  cloudEventHeaders({
    id: record.id,
    type: record.type,
    source: 'workers',
    timeMs: record.timeMs,
    subject: record.jobId,
    correlationId: record.jobId,
    ...cause,
  });
