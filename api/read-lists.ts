import type pg from 'pg';
import { queryRows } from './database.ts';

/** The lists that the API reads of the projector's tables, newest first: one named function per statement. */

export type JobKind = 'clip' | 'face_swap';
export type JobStatus = 'processing' | 'completed' | 'failed';

export type ListedJob = Readonly<{
  jobId: string;
  kind: JobKind;
  status: JobStatus;
  itemCount: number;
  /** Items with a terminal event; null unless the job is being processed. */
  endedCount: number | null;
  costCents: number;
  createdAt: Date;
  finishedAt: Date | null;
}>;

export type JobsWanted = Readonly<{
  teamId: number;
  kind: JobKind | undefined;
  status: JobStatus | undefined;
  /** Only what is older than this place. */
  after: Readonly<{ createdAtMs: number; jobId: string }> | undefined;
  most: number;
}>;

/** A team's jobs of this kind and status; those of one millisecond are ordered by their ids. */
export async function listJobs(pool: pg.Pool, wanted: JobsWanted): Promise<readonly ListedJob[]> {
  const { teamId, kind, status, after, most } = wanted;
  const rows = await queryRows<{
    job_id: string;
    kind: JobKind;
    status: JobStatus;
    item_count: number;
    ended_count: number | null;
    cost_cents: number;
    created_at: Date;
    finished_at: Date | null;
  }>(
    pool,
    `SELECT job.job_id, job.kind, job.status, job.item_count, job.cost_cents, job.created_at, job.finished_at,
            CASE WHEN job.status = 'processing' THEN (
              SELECT count(*) FROM read_model.clips AS clip
              WHERE clip.job_id = job.job_id AND clip.status <> 'processing'
            ) END AS ended_count
     FROM read_model.jobs AS job
     WHERE job.team_id = $1
       AND ($2::text IS NULL OR job.kind = $2)
       AND ($3::text IS NULL OR job.status = $3)
       AND ($4::timestamptz IS NULL OR (job.created_at, job.job_id) < ($4::timestamptz, $5::uuid))
     ORDER BY job.created_at DESC, job.job_id DESC
     LIMIT $6`,
    [
      teamId,
      kind ?? null,
      status ?? null,
      after === undefined ? null : new Date(after.createdAtMs),
      after?.jobId ?? null,
      most,
    ],
  );
  return rows.map((row) => ({
    jobId: row.job_id,
    kind: row.kind,
    status: row.status,
    itemCount: row.item_count,
    endedCount: row.ended_count,
    costCents: row.cost_cents,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  }));
}

export type ListedTransaction = Readonly<{
  eventId: string;
  seq: number;
  type: string;
  amountCents: number;
  balanceAfterCents: number;
  jobId: string | null;
  clipId: number | null;
  /** How many items a debit paid for; null for everything else. */
  itemCount: number | null;
  debitId: string | null;
  reference: string | null;
  reason: string | null;
  occurredAt: Date;
}>;

/** A wallet's events with the balance after each, from `beforeSeq` (exclusive) down. */
export async function listTransactions(
  pool: pg.Pool,
  wanted: Readonly<{ teamId: number; beforeSeq: number | undefined; most: number }>,
): Promise<readonly ListedTransaction[]> {
  const rows = await queryRows<{
    event_id: string;
    seq: number;
    type: string;
    amount_cents: number;
    balance_after_cents: number;
    job_id: string | null;
    clip_id: number | null;
    item_count: number | null;
    debit_id: string | null;
    reference: string | null;
    reason: string | null;
    occurred_at: Date;
  }>(
    pool,
    `SELECT event_id, seq, type, amount_cents, balance_after_cents, job_id, clip_id, item_count, debit_id,
            reference, reason, occurred_at
     FROM read_model.wallet_transactions
     WHERE team_id = $1 AND ($2::bigint IS NULL OR seq < $2)
     ORDER BY seq DESC
     LIMIT $3`,
    [wanted.teamId, wanted.beforeSeq ?? null, wanted.most],
  );
  return rows.map((row) => ({
    eventId: row.event_id,
    seq: row.seq,
    type: row.type,
    amountCents: row.amount_cents,
    balanceAfterCents: row.balance_after_cents,
    jobId: row.job_id,
    clipId: row.clip_id,
    itemCount: row.item_count,
    debitId: row.debit_id,
    reference: row.reference,
    reason: row.reason,
    occurredAt: row.occurred_at,
  }));
}
