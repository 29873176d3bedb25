import type pg from 'pg';
import { queryRows } from './database.ts';

/** What the API reads of the projector's tables: one named function per statement. */

export type KeyHolder = Readonly<{
  keyId: string;
  keyName: string;
  teamId: number;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** False also while the team has no wallet. */
  billingActive: boolean;
  balanceCents: number;
}>;

/** The key with this hash, and what its team may do. */
export async function findKeyHolder(pool: pg.Pool, keyHash: Buffer): Promise<KeyHolder | undefined> {
  const [row] = await queryRows<{
    key_id: string;
    name: string;
    team_id: number;
    expires_at: Date | null;
    revoked_at: Date | null;
    active: boolean | null;
    balance_cents: number | null;
  }>(
    pool,
    `SELECT key.key_id, key.name, key.team_id, key.expires_at, key.revoked_at, wallet.active, wallet.balance_cents
     FROM read_model.api_keys AS key LEFT JOIN read_model.wallets AS wallet USING (team_id)
     WHERE key.key_hash = $1`,
    [keyHash],
  );
  if (row === undefined) return undefined;
  return {
    keyId: row.key_id,
    keyName: row.name,
    teamId: row.team_id,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    billingActive: row.active ?? false,
    balanceCents: row.balance_cents ?? 0,
  };
}

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
  stage: string | null;
  clips: readonly ClipRow[];
}>;

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
    `SELECT job.status, job.stage, clip.clip_id, clip.item, clip.status AS clip_status, clip.title, clip.heading,
            clip.error, clip.object_key, clip.created_at, clip.finished_at
     FROM read_model.jobs AS job JOIN read_model.clips AS clip USING (job_id)
     WHERE job.job_id = $1 AND job.team_id = $2 AND job.kind = 'clip'
     ORDER BY clip.item`,
    [wanted.jobId, wanted.teamId],
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

export type ApiKeyRow = Readonly<{
  keyId: string;
  name: string;
  prefix: string;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** When a request with it was last counted; unknown after the database crashed. */
  lastUsedAt: Date | null;
}>;

type ApiKeyColumns = Readonly<{
  key_id: string;
  name: string;
  prefix: string;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
}>;

const apiKeyColumns = `key.key_id, key.name, key.prefix, key.created_at, key.expires_at, key.revoked_at,
  used.last_request_at AS last_used_at
  FROM read_model.api_keys AS key LEFT JOIN service.rate_limit_windows AS used USING (key_id)`;

/** A team's keys, oldest first, also the revoked and expired ones. */
export async function listApiKeys(pool: pg.Pool, teamId: number): Promise<readonly ApiKeyRow[]> {
  const rows = await queryRows<ApiKeyColumns>(
    pool,
    `SELECT ${apiKeyColumns} WHERE key.team_id = $1 ORDER BY key.created_at, key.key_id`,
    [teamId],
  );
  return rows.map(apiKeyRow);
}

/** A key by its id, whatever its team, with that team. */
export async function findApiKey(
  pool: pg.Pool,
  keyId: string,
): Promise<(ApiKeyRow & { readonly teamId: number }) | undefined> {
  const [row] = await queryRows<ApiKeyColumns & { readonly team_id: number }>(
    pool,
    `SELECT key.team_id, ${apiKeyColumns} WHERE key.key_id = $1`,
    [keyId],
  );
  return row === undefined ? undefined : { ...apiKeyRow(row), teamId: row.team_id };
}

const apiKeyRow = (row: ApiKeyColumns): ApiKeyRow => ({
  keyId: row.key_id,
  name: row.name,
  prefix: row.prefix,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
});
