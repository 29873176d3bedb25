import type pg from 'pg';
import { queryRows } from './database.ts';

/** What the API reads of the projector's tables: one named function per statement. */

export type WalletTotals = Readonly<{
  balanceCents: number;
  debitedCents: number;
  refundedCents: number;
  toppedUpCents: number;
  active: boolean;
}>;

/** A team's wallet. */
export async function findWallet(pool: pg.Pool, teamId: number): Promise<WalletTotals | undefined> {
  const [row] = await queryRows<{
    balance_cents: number;
    debited_cents: number;
    refunded_cents: number;
    topped_up_cents: number;
    active: boolean;
  }>(
    pool,
    `SELECT balance_cents, debited_cents, refunded_cents, topped_up_cents, active
     FROM read_model.wallets WHERE team_id = $1`,
    [teamId],
  );
  if (row === undefined) return undefined;
  return {
    balanceCents: row.balance_cents,
    debitedCents: row.debited_cents,
    refundedCents: row.refunded_cents,
    toppedUpCents: row.topped_up_cents,
    active: row.active,
  };
}

export type DebitRow = Readonly<{
  amountCents: number;
  /** Null for a debit that paid for no clips. */
  firstClipId: number | null;
  occurredAt: Date;
}>;

/** A team's debit by its event id; `amountCents` is what was taken. */
export async function findDebit(
  pool: pg.Pool,
  wanted: { readonly teamId: number; readonly eventId: string },
): Promise<DebitRow | undefined> {
  const [row] = await queryRows<{ amount_cents: number; clip_id: number | null; occurred_at: Date }>(
    pool,
    `SELECT -amount_cents AS amount_cents, clip_id, occurred_at FROM read_model.wallet_transactions
     WHERE event_id = $1 AND team_id = $2 AND type = 'WalletDebited'`,
    [wanted.eventId, wanted.teamId],
  );
  if (row === undefined) return undefined;
  return { amountCents: row.amount_cents, firstClipId: row.clip_id, occurredAt: row.occurred_at };
}

/** Whether the team has paid for a job that has no row yet. */
export async function isJobAwaited(
  pool: pg.Pool,
  { jobId, teamId }: { readonly jobId: string; readonly teamId: number },
): Promise<boolean> {
  const rows = await queryRows(
    pool,
    `SELECT FROM read_model.wallet_transactions AS debit
     WHERE debit.job_id = $1 AND debit.team_id = $2 AND debit.type = 'WalletDebited'
       AND NOT EXISTS (SELECT FROM read_model.jobs WHERE jobs.job_id = debit.job_id)`,
    [jobId, teamId],
  );
  return rows.length > 0;
}

/** Whether the job's row is there. */
export async function isJobThere(pool: pg.Pool, jobId: string): Promise<boolean> {
  const rows = await queryRows(pool, 'SELECT FROM read_model.jobs WHERE job_id = $1', [jobId]);
  return rows.length > 0;
}

export type ClipRow = Readonly<{
  clipId: number;
  item: number;
  status: 'processing' | 'completed' | 'failed';
  title: string | null;
  heading: string | null;
  error: string | null;
  objectKey: string | null;
  createdAt: Date;
  finishedAt: Date | null;
}>;

export type ClipJobRow = Readonly<{
  jobId: string;
  status: 'processing' | 'completed' | 'failed';
  /** Null also when no worker has spoken of it lately: nobody knows then what is being done. */
  stage: string | null;
  clips: readonly ClipRow[];
}>;

/** Workers repeat the stage of what they do every 15 s; a minute also bridges clocks that are not the same. */
const STAGE_HOLDS_MS = 60_000;

type JoinedClip = Readonly<{
  status: ClipJobRow['status'];
  stage: string | null;
  clip_id: number;
  item: number;
  clip_status: ClipRow['status'];
  title: string | null;
  heading: string | null;
  error: string | null;
  object_key: string | null;
  created_at: Date;
  finished_at: Date | null;
}>;

/** A team's clip job with its clips in order, as one statement saw them. */
export async function findClipJob(
  pool: pg.Pool,
  wanted: { readonly jobId: string; readonly teamId: number },
): Promise<ClipJobRow | undefined> {
  const rows = await queryRows<JoinedClip>(
    pool,
    `SELECT job.status, CASE WHEN job.stage_at > now() - $3 * interval '1 ms' THEN job.stage END AS stage, clip.clip_id, clip.item, clip.status AS clip_status, clip.title, clip.heading,
            clip.error, clip.object_key, clip.created_at, clip.finished_at
     FROM read_model.jobs AS job JOIN read_model.clips AS clip USING (job_id)
     WHERE job.job_id = $1 AND job.team_id = $2 AND job.kind = 'clip'
     ORDER BY clip.item`,
    [wanted.jobId, wanted.teamId, STAGE_HOLDS_MS],
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  return { jobId: wanted.jobId, status: first.status, stage: first.stage, clips: rows.map(clipRow) };
}

const clipRow = (row: JoinedClip): ClipRow => ({
  clipId: row.clip_id,
  item: row.item,
  status: row.clip_status,
  title: row.title,
  heading: row.heading,
  error: row.error,
  objectKey: row.object_key,
  createdAt: row.created_at,
  finishedAt: row.finished_at,
});

export type SwapJobRow = Readonly<{
  jobId: string;
  status: 'processing' | 'completed' | 'failed';
  createdAt: Date;
  finishedAt: Date | null;
  progressPercent: number;
  error: string | null;
  objectKey: string | null;
}>;

/** A team's face swap. */
export async function findSwapJob(
  pool: pg.Pool,
  wanted: { readonly jobId: string; readonly teamId: number },
): Promise<SwapJobRow | undefined> {
  const [row] = await queryRows<{
    status: SwapJobRow['status'];
    created_at: Date;
    finished_at: Date | null;
    progress_percent: number | null;
    error: string | null;
    object_key: string | null;
  }>(
    pool,
    `SELECT job.status, job.created_at, job.finished_at, job.progress_percent, swap.error, swap.object_key
     FROM read_model.jobs AS job JOIN read_model.swaps AS swap USING (job_id)
     WHERE job.job_id = $1 AND job.team_id = $2`,
    [wanted.jobId, wanted.teamId],
  );
  if (row === undefined) return undefined;
  return {
    jobId: wanted.jobId,
    status: row.status,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    progressPercent: row.progress_percent ?? 0,
    error: row.error,
    objectKey: row.object_key,
  };
}
