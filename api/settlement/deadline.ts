import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Appender } from '#infra/kafka/appender.ts';
import type { Logger } from '#infra/log.ts';
import { queryRows } from '../database.ts';
import type { LogFreshness } from '../log-freshness.ts';
import { failItems, type OpenItem, pastDeadline } from './fail-items.ts';

/**
 * A job that is not finished by its deadline fails, also when no worker is left to say so. Every instance
 * looks at the rows again and again, so nothing depends on a timer that a crash could lose; the event ids are
 * derived, and the first terminal event of a clip counts, so that two instances do no harm.
 */

export type DeadlineWatch = Readonly<{
  pool: pg.Pool;
  appender: Pick<Appender, 'append'>;
  freshness: LogFreshness;
  log: Logger;
  now: () => Date;
  /** `JOB_DEADLINE`: short ones are looked at more often. */
  jobDeadlineMs: number;
}>;

const LOOK_MS = { least: 500, most: 10_000 };
const LOOKS_PER_DEADLINE = 10;
const CLIPS_PER_LOOK = 500;

/** Looks for overdue jobs until `signal` aborts. */
export async function watchDeadlines(watch: DeadlineWatch, signal: AbortSignal): Promise<void> {
  const lookMs = Math.min(LOOK_MS.most, Math.max(LOOK_MS.least, watch.jobDeadlineMs / LOOKS_PER_DEADLINE));
  while (!signal.aborted) {
    try {
      await failOverdueClips(watch);
    } catch (error) {
      watch.log.warn({ err: error }, 'Overdue jobs could not be looked for; trying again.');
    }
    // Instances that were started together must not look together for ever.
    await delay(lookMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
  }
}

/** Appends a failure for each clip that is overdue as of now, and says how many that were. */
export async function failOverdueClips(watch: DeadlineWatch): Promise<number> {
  const overdue = await findOverdueClips(watch.pool, watch.now());
  if (overdue.length === 0) return 0;
  // Rows that are behind the log, as in a rebuild, show jobs as unfinished that ended long ago.
  if ((await watch.freshness.check('job.events')) !== 'current') return 0;
  const stillOverdue = await findOverdueClips(watch.pool, watch.now());
  await failItems(stillOverdue, pastDeadline, watch);
  const jobs = new Set(stillOverdue.map(({ jobId }) => jobId)).size;
  if (jobs > 0)
    watch.log.warn({ jobs, clips: stillOverdue.length }, 'Jobs passed their deadline and were failed.');
  return stillOverdue.length;
}

async function findOverdueClips(pool: pg.Pool, now: Date): Promise<readonly OpenItem[]> {
  const rows = await queryRows<{
    job_id: string;
    team_id: number;
    debit_id: string;
    item: number;
    clip_id: number;
  }>(
    pool,
    `SELECT job.job_id, job.team_id, job.debit_id, clip.item, clip.clip_id
     FROM read_model.jobs AS job JOIN read_model.clips AS clip USING (job_id)
     WHERE job.status = 'processing' AND job.deadline_at < $1 AND clip.status = 'processing'
     ORDER BY job.deadline_at, job.job_id, clip.item
     LIMIT $2`,
    [now, CLIPS_PER_LOOK],
  );
  return rows.map((row) => ({
    jobId: row.job_id,
    teamId: row.team_id,
    debitId: row.debit_id,
    item: row.item,
    clipId: row.clip_id,
  }));
}
