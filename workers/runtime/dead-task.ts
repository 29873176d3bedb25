import type { RecordToAppend } from '#infra/kafka/record.ts';
import { cloudEventHeaders } from '#schemas/cloud-event-headers.ts';
import { encodeRecord } from '#schemas/codec.ts';
import type { GivenUp } from './attempt-task.ts';
import type { Cause } from './clip-records.ts';

/**
 * A task that was given up. `taskId` is `<job>/<item>` for a clip, `<job>/plan` for a whole job, or the key of
 * a record that could not be read; `bytes` is the record as it was. Its clips have failed and are refunded
 * already, and stay so. A clip's record appended to `job.tasks` again with a higher `attempt` is rendered all
 * the same: source and plan of a job with dead tasks are kept until the bucket's retention.
 */
export type GivenUpTask = Readonly<{
  taskId: string;
  jobId: string;
  teamId: number;
  attempts: number;
  code: string;
  reason: string;
  bytes: Buffer;
}>;

/** The task as one for an operator; undefined where how it ended is nobody's to look at. */
export const deadTaskOf = (
  task: Pick<GivenUpTask, 'taskId' | 'jobId' | 'teamId' | 'bytes'>,
  { failure, attempts, isDead }: GivenUp,
): GivenUpTask | undefined =>
  isDead ? { ...task, attempts, code: failure.code, reason: failure.detail ?? failure.message } : undefined;

/** A given-up task as it goes into `job.dead`. */
export function deadRecord(task: GivenUpTask, atMs: number, cause: Cause): RecordToAppend {
  return {
    topic: 'job.dead',
    key: task.taskId,
    value: encodeRecord('DeadTask', {
      task_id: task.taskId,
      job_id: task.jobId,
      team_id: task.teamId,
      failed_at: atMs,
      attempts: task.attempts,
      code: task.code,
      reason: task.reason,
      task: task.bytes,
    }),
    headers: cloudEventHeaders({
      id: crypto.randomUUID(),
      type: 'DeadTask',
      source: 'workers',
      timeMs: atMs,
      subject: task.jobId,
      correlationId: task.jobId,
      ...cause,
    }),
  };
}
