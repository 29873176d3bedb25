import { z } from 'zod';
import { type ListedJob, listJobs } from '../read-lists.ts';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import { cursorAfter, cursorParameter } from './cursor.ts';
import { checkFields, oneOf } from './field-rules.ts';
import type { HttpService } from './http-service.ts';
import { limitParameter, pageOf, queryOf } from './list-query.ts';

/** The query parameters of `GET /v1/jobs`. */
export const jobListQuery = queryOf({
  kind: oneOf(['clip', 'face_swap']).optional(),
  status: oneOf(['processing', 'completed', 'failed']).optional(),
  cursor: cursorParameter('jobs', [z.int().min(0).max(Date.UTC(9999, 0)), z.uuid()]).optional(),
  limit: limitParameter,
});

const everyJob = {
  job_id: z.uuid(),
  cost_cents: z.int(),
  created_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
};
const jobBody = z.discriminatedUnion('kind', [
  z.object({
    ...everyJob,
    kind: z.literal('clip'),
    status: z.enum(['processing', 'completed']),
    num_clips: z.int(),
    /** While the job is processing. */
    progress: z.object({ completed: z.int(), total: z.int() }).optional(),
  }),
  z.object({
    ...everyJob,
    kind: z.literal('face_swap'),
    status: z.enum(['processing', 'completed', 'failed']),
  }),
]);

export const jobListBody = z.object({ jobs: z.array(jobBody), next_cursor: z.string().nullable() });

/** `GET /v1/jobs`: the team's jobs of all kinds, newest first. */
export async function getJobs(query: unknown, principal: Principal, service: HttpService): Promise<Answer> {
  const checked = checkFields(jobListQuery, query);
  if ('errors' in checked) return answers.invalid(checked.errors);
  const { kind, status, cursor, limit } = checked.value;
  // A job that was created through another instance must not be missing.
  if ((await service.freshness.check('job.events')) === 'behind') return answers.catchingUp;
  const after = cursor === undefined ? undefined : { createdAtMs: cursor[0], jobId: cursor[1] };
  const found = await listJobs(service.pool, {
    teamId: principal.teamId,
    kind,
    status,
    after,
    most: limit + 1,
  });
  const { rows, last } = pageOf(found, limit);
  const body: z.output<typeof jobListBody> = {
    jobs: rows.map(listedJob),
    next_cursor: last === undefined ? null : cursorAfter('jobs', [last.createdAt.getTime(), last.jobId]),
  };
  return answers.ok(body);
}

function listedJob(row: ListedJob): z.output<typeof jobBody> {
  const common = {
    job_id: row.jobId,
    cost_cents: row.costCents,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  };
  if (row.kind === 'face_swap') return { ...common, kind: row.kind, status: row.status };
  return {
    ...common,
    kind: row.kind,
    // Clip jobs cannot fail: their clips do.
    status: row.status === 'processing' ? 'processing' : 'completed',
    num_clips: row.itemCount,
    ...(row.endedCount === null ? {} : { progress: { completed: row.endedCount, total: row.itemCount } }),
  };
}
