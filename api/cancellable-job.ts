import type pg from 'pg';
import { SWAP_ITEM } from '#schemas/job.ts';
import { queryRows } from './database.ts';
import type { JobKind, JobStatus } from './read-lists.ts';
import type { OpenItem } from './settlement/fail-items.ts';

/** A job with its items, as calling it off sees them. */

export type JobItem = OpenItem &
  Readonly<{
    status: JobStatus;
    terminalEventId: string | null;
    settlement: 'captured' | 'refunded' | null;
  }>;

export type CancellableJob = Readonly<{
  jobId: string;
  kind: JobKind;
  status: JobStatus;
  itemCents: number;
  items: readonly JobItem[];
}>;

/** A job by its id; only of this team and kind where they are given, which a client's request always does. */
export type WantedJob = Readonly<{ jobId: string; owner?: Readonly<{ teamId: number; kind: JobKind }> }>;

/** The job with its items in order, as one statement saw them. */
export async function findCancellableJob(
  pool: pg.Pool,
  { jobId, owner }: WantedJob,
): Promise<CancellableJob | undefined> {
  const rows = await queryRows<{
    team_id: number;
    kind: JobKind;
    job_status: JobStatus;
    debit_id: string;
    item_count: number;
    cost_cents: number;
    item: number;
    clip_id: number | null;
    item_status: JobStatus;
    terminal_event_id: string | null;
    settlement: JobItem['settlement'];
  }>(
    pool,
    `SELECT job.team_id, job.kind, job.status AS job_status, job.debit_id, job.item_count, job.cost_cents,
            item.item, item.clip_id, item.status AS item_status, item.terminal_event_id, item.settlement
     FROM read_model.jobs AS job JOIN (
       SELECT job_id, item, clip_id, status, terminal_event_id, settlement FROM read_model.clips
       UNION ALL
       SELECT job_id, $4::int, NULL, status, terminal_event_id, settlement FROM read_model.swaps
     ) AS item USING (job_id)
     WHERE job.job_id = $1 AND ($2::bigint IS NULL OR job.team_id = $2) AND ($3::text IS NULL OR job.kind = $3)
     ORDER BY item.item`,
    [jobId, owner?.teamId ?? null, owner?.kind ?? null, SWAP_ITEM],
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    jobId,
    kind: first.kind,
    status: first.job_status,
    itemCents: first.cost_cents / first.item_count,
    items: rows.map((row) => ({
      jobId,
      teamId: row.team_id,
      debitId: row.debit_id,
      item: row.item,
      clipId: row.clip_id,
      status: row.item_status,
      terminalEventId: row.terminal_event_id,
      settlement: row.settlement,
    })),
  };
}
