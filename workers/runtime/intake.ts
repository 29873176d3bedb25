import type { ReadRecord } from '#infra/kafka/record.ts';
import { decodeRecord } from '#schemas/codec.ts';
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

/** From `job.events`: each requested clip job is to be planned, and what was called off is to be cleaned up. */
export function planIntake(parts: JobParts, sources: AttemptSources): Intake {
  return (record) =>
    orPutAside(parts, sources, record, () => {
      const event = decodeRecord(record.value);
      const cancelled = cancelledItem(event);
      if (cancelled !== undefined) return cancelledTask(parts, sources, record, cancelled);
      const { name, value } = event;
      if (name !== 'JobRequested' || value.kind !== 'clip') return undefined;
      const work = planWork(parts, { request: value, bytes: record.value, cause: causeIn(record.headers) });
      return laneTask(record, `${value.job_id}/plan`, value.team_id, work, sources);
    });
}

/** The job's own tasks of the same batch have not started yet: they learn of it first. */
function cancelledTask(
  parts: JobParts,
  sources: AttemptSources,
  record: ReadRecord,
  item: CancelledItem,
): LaneTask {
  const { job_id: jobId, team_id: teamId } = item.value;
  parts.cancellations.note(jobId);
  const part = item.name === 'ClipFailed' ? item.value.item : 'swap';
  return laneTask(record, `${jobId}/${part}/cancelled`, teamId, cancelledWork(parts, item), sources);
}

/** From `job.tasks`: each task renders a clip. */
export function renderIntake(parts: JobParts, sources: AttemptSources): Intake {
  return (record) =>
    orPutAside(parts, sources, record, () => {
      const { name, value } = decodeRecord(record.value);
      if (name !== 'RenderClipTask') throw new Error(`A ${name} is no task.`);
      const work = renderWork(parts, { task: value, bytes: record.value, cause: causeIn(record.headers) });
      return laneTask(record, value.task_id, value.team_id, work, sources);
    });
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
