import { isUuid } from '#schemas/ids.ts';
import { isJobAwaited } from '../read-model.ts';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import type { HttpService } from './http-service.ts';

/** A team's job, as the statements of the read model want it. */
export type WantedJob = Readonly<{ jobId: string; teamId: number }>;

/** The team's job that `find` finds under this id, or why it cannot be told. */
export async function lookUpJob<Job>(
  jobIdText: string,
  { teamId }: Pick<Principal, 'teamId'>,
  { freshness, pool }: Pick<HttpService, 'freshness' | 'pool'>,
  find: (wanted: WantedJob) => Promise<Job | undefined>,
): Promise<Readonly<{ job: Job }> | Readonly<{ refused: Answer }>> {
  const jobId = jobIdText.toLowerCase();
  if (!isUuid(jobId)) return { refused: answers.jobNotFound };
  const wanted = { jobId, teamId };
  const job = await find(wanted);
  if (job !== undefined) return { job };
  // The job may be newer than the rows: only what the log does not hold either can be denied.
  if ((await freshness.check('job.events', jobId)) !== 'current') return { refused: answers.catchingUp };
  const late = await find(wanted);
  if (late !== undefined) return { job: late };
  // A transaction becomes readable partition by partition: its debit can be there before its job.
  return { refused: (await isJobAwaited(pool, wanted)) ? answers.catchingUp : answers.jobNotFound };
}
