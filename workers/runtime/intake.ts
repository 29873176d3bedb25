import type { ReadRecord } from '#infra/kafka/record.ts';
import { type AnyRecord, decodeRecord, type Named } from '#schemas/codec.ts';
import { isFaceSwap } from '#schemas/job.ts';
import type { JobRecords } from '#schemas/records.ts';
import { cancelledSwapWork } from '../swap/runtime/end-swap.ts';
import { makeSwapWork } from '../swap/runtime/make-swap.ts';
import { planSwapWork } from '../swap/runtime/plan-swap.ts';
import type { SwapParts } from '../swap/runtime/swap-parts.ts';
import { appendRecords } from './append-records.ts';
import { type AttemptSources, attemptsOf, type Work } from './attempt-task.ts';
import { type CancelledItem, cancelledItem } from './cancellations.ts';
import { cancelledWork } from './cancelled-work.ts';
import { causeIn } from './clip-records.ts';
import { deadRecord } from './dead-task.ts';
import type { JobParts } from './job-parts.ts';
import { planWork } from './plan-job.ts';
import { renderWork } from './render-clip.ts';
import type { LaneTask } from './task-lane.ts';

/** The record's work, or undefined where it asks for none. */
export type Intake = (record: ReadRecord) => LaneTask | undefined;

/**
 * From `job.events`: each requested job is to be planned, and what was called off is to be cleaned up. Without
 * `swaps`, face swaps are left to other workers.
 */
export function planIntake(parts: JobParts, swaps: SwapParts | undefined, sources: AttemptSources): Intake {
  return (record) =>
    orPutAside(parts, sources, record, () => {
      const event = decodeRecord(record.value);
      const cancelled = cancelledItem(event);
      if (cancelled !== undefined) return cancelledTask(parts, swaps, sources, record, cancelled);
      const { name, value } = event;
      if (name !== 'JobRequested') return undefined;
      const requested = { request: value, bytes: record.value, cause: causeIn(record.headers) };
      const work = isFaceSwap(value) ? swaps && planSwapWork(swaps, requested) : planWork(parts, requested);
      return work && laneTask(record, `${value.job_id}/plan`, value.team_id, work, sources);
    });
}

/** The job's own tasks of the same batch have not started yet: they learn of it first. */
function cancelledTask(
  parts: JobParts,
  swaps: SwapParts | undefined,
  sources: AttemptSources,
  record: ReadRecord,
  item: CancelledItem,
): LaneTask {
  const { job_id: jobId, team_id: teamId } = item.value;
  parts.cancellations.note(jobId);
  const part = item.name === 'ClipFailed' ? item.value.item : 'swap';
  const isOfSwap = item.name === 'SwapFailed' && swaps !== undefined;
  const work = isOfSwap ? cancelledSwapWork(swaps, item) : cancelledWork(parts, item);
  return laneTask(record, `${jobId}/${part}/cancelled`, teamId, work, sources);
}

/** From `job.tasks`: each task renders a clip, or swaps the face in a video or a segment of it. */
export function renderIntake(parts: JobParts, swaps: SwapParts | undefined, sources: AttemptSources): Intake {
  return (record) =>
    orPutAside(parts, sources, record, () => {
      const task = taskIn(decodeRecord(record.value));
      const { task_id: taskId, team_id: teamId } = task.value;
      return laneTask(record, taskId, teamId, workOf(task, record, parts, swaps), sources);
    });
}

type Task = Named<Pick<JobRecords, 'RenderClipTask' | 'SwapTask'>>;

function taskIn(record: AnyRecord): Task {
  if (record.name === 'RenderClipTask' || record.name === 'SwapTask') return record;
  throw new Error(`A ${record.name} is no task.`);
}

function workOf(task: Task, record: ReadRecord, parts: JobParts, swaps: SwapParts | undefined): Work {
  const received = { bytes: record.value, cause: causeIn(record.headers) };
  if (task.name === 'RenderClipTask') return renderWork(parts, { task: task.value, ...received });
  if (swaps === undefined) throw new Error('This worker makes no face swaps.');
  return makeSwapWork(swaps, { task: task.value, ...received });
}

function laneTask(
  { offset }: ReadRecord,
  key: string,
  teamId: number,
  work: Work,
  sources: AttemptSources,
): LaneTask {
  return { offset, key, teamId, attempt: attemptsOf(work, sources) };
}

/**
 * A record that nobody can work on must not stop its partition: it goes to `job.dead`. The clips it may have
 * stood for fail at their job's deadline.
 */
function orPutAside(
  parts: JobParts,
  sources: AttemptSources,
  record: ReadRecord,
  read: () => LaneTask | undefined,
): LaneTask | undefined {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const { topic, partition, offset, key } = record;
    parts.log.error({ topic, partition, offset, reason }, 'a record that is no task is put on job.dead');
    return laneTask(record, key, 0, putAside(parts, record, reason), sources);
  }
}

function putAside(parts: JobParts, record: ReadRecord, reason: string): Work {
  const [jobId = ''] = record.key.split('/');
  const bytes = record.value;
  const dead = { taskId: record.key, jobId, teamId: 0, attempts: 0, code: 'unreadable', reason, bytes };
  const append = (signal: AbortSignal) =>
    appendRecords(parts.appender, [deadRecord(dead, parts.now(), causeIn(record.headers))], signal);
  return {
    deadlineAtMs: Number.MAX_SAFE_INTEGER,
    perform: append,
    giveUp: (_end, signal) => append(signal),
    log: parts.log,
  };
}
