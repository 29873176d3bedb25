import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Appender } from '#infra/kafka/appender.ts';
import type { Logger } from '#infra/log.ts';
import { SWAP_ITEM } from '#schemas/job.ts';
import { queryRows } from '../database.ts';
import type { LogFreshness } from '../log-freshness.ts';
import { failItems, type OpenItem, pastDeadline } from './fail-items.ts';

/**
 * A job that is not finished by its deadline fails, also when no worker is left to say so. Every instance
 * looks at the rows again and again, so nothing depends on a timer that a crash could lose; the event ids are
 * derived, and the first terminal event of a clip or face swap counts, so that two instances do no harm.
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
const ITEMS_PER_LOOK = 500;

/** Looks for overdue jobs until `signal` aborts. */
export async function watchDeadlines(watch: DeadlineWatch, signal: AbortSignal): Promise<void> {
  const lookMs = Math.min(LOOK_MS.most, Math.max(LOOK_MS.least, watch.jobDeadlineMs / LOOKS_PER_DEADLINE));
  while (!signal.aborted) {
    try {
      await failOverdueItems(watch);
    } catch (error) {
      watch.log.warn({ err: error }, 'Overdue jobs could not be looked for; trying again.');
    }
    // Instances that were started together must not look together for ever.
    await delay(lookMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
  }
}

/** Appends a failure for each clip and face swap that is overdue as of now. */
async function failOverdueItems(watch: DeadlineWatch): Promise<void> {
  if ((await findOverdueItems(watch.pool, watch.now())).length === 0) return;
  // Rows that are behind the log, as in a rebuild, show jobs as unfinished that ended long ago.
  if ((await watch.freshness.check('job.events')) !== 'current') return;
  const overdue = await findOverdueItems(watch.pool, watch.now());
  await failItems(overdue, pastDeadline, watch);
  const jobs = new Set(overdue.map(({ jobId }) => jobId)).size;
  if (jobs > 0)
    watch.log.warn({ jobs, items: overdue.length }, 'Jobs passed their deadline and were failed.');
}

/** A face swap is the one item of its job, without a clip id. */
async function findOverdueItems(pool: pg.Pool, now: Date): Promise<readonly OpenItem[]> {
  const rows = await queryRows<{
    job_id: string;
    team_id: number;
    debit_id: string;
    item: number;
    clip_id: number | null;
  }>(
    pool,
    `SELECT job.job_id, job.team_id, job.debit_id, open.item, open.clip_id
     FROM read_model.jobs AS job JOIN (
       SELECT job_id, item, clip_id FROM read_model.clips WHERE status = 'processing'
       UNION ALL
       SELECT job_id, $3::int, NULL FROM read_model.swaps WHERE status = 'processing'
     ) AS open USING (job_id)
     WHERE job.status = 'processing' AND job.deadline_at < $1
     ORDER BY job.deadline_at, job.job_id, open.item
     LIMIT $2`,
    [now, ITEMS_PER_LOOK, SWAP_ITEM],
  );
  return rows.map((row) => ({
    jobId: row.job_id,
    teamId: row.team_id,
    debitId: row.debit_id,
    item: row.item,
    clipId: row.clip_id,
  }));
}
