import type pg from 'pg';
import type { OpenWallet } from '#schemas/wallet.ts';
import { type WalletColumns, walletOf } from '../wallet/wallet-statements.ts';

/** What the audit reads of Postgres, all in one snapshot: one named function per statement. */

/** A transaction that sees one moment of the database, however long the audit takes. */
export async function beginSnapshot(client: pg.ClientBase): Promise<void> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
}

/** The rows of these events as text, by `team/seq`. */
export async function readTransactionRows(
  client: pg.ClientBase,
  places: readonly Readonly<{ teamId: number; seq: number }>[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<TransactionColumns>(
    `SELECT team_id, seq, event_id, type, amount_cents, balance_after_cents, job_id, clip_id, debit_id, item,
            item_count, clip_id_step, reference, reason, actor, occurred_at
     FROM unnest($1::bigint[], $2::bigint[]) AS wanted (team_id, seq)
     JOIN read_model.wallet_transactions USING (team_id, seq)`,
    [places.map(({ teamId }) => teamId), places.map(({ seq }) => seq)],
  );
  return new Map(rows.map((row) => [`${row.team_id}/${row.seq}`, describeTransaction(row)]));
}

export type TransactionColumns = Readonly<{
  team_id: number;
  seq: number;
  event_id: string;
  type: string;
  amount_cents: number;
  balance_after_cents: number;
  job_id: string | null;
  clip_id: number | null;
  debit_id: string | null;
  item: number | null;
  item_count: number | null;
  clip_id_step: number | null;
  reference: string | null;
  reason: string | null;
  actor: string;
  occurred_at: Date;
}>;

/** The row in one line, for comparing and for showing. */
export const describeTransaction = (row: TransactionColumns): string =>
  JSON.stringify([
    row.event_id,
    row.type,
    row.amount_cents,
    row.balance_after_cents,
    row.job_id,
    row.clip_id,
    row.debit_id,
    row.item,
    row.item_count,
    row.clip_id_step,
    row.reference,
    row.reason,
    row.actor,
    row.occurred_at.toISOString(),
  ]);

/** How many transaction rows each team has. */
export async function countTransactions(client: pg.ClientBase): Promise<ReadonlyMap<number, number>> {
  const { rows } = await client.query<{ team_id: number; count: number }>(
    'SELECT team_id, count(*) AS count FROM read_model.wallet_transactions GROUP BY team_id',
  );
  return new Map(rows.map((row) => [row.team_id, row.count]));
}

/** Every wallet in one line, by team. */
export async function readWalletRows(client: pg.ClientBase): Promise<ReadonlyMap<number, string>> {
  const { rows } = await client.query<WalletColumns>('SELECT * FROM read_model.wallets ORDER BY team_id');
  return new Map(rows.map((row) => [row.team_id, describeWallet(walletOf(row))]));
}

export const describeWallet = (wallet: Omit<OpenWallet, 'status'>): string =>
  `balance ${wallet.balanceCents}, debited ${wallet.debitedCents}, refunded ${wallet.refundedCents}, ` +
  `captured ${wallet.capturedCents}, topped up ${wallet.toppedUpCents} cents, ` +
  `${wallet.active ? 'active' : 'inactive'}, seq ${wallet.seq}, hash ${wallet.hash.toString('hex')}`;

/** Teams and keys in one line each, by `team/<id>` and `key/<id>`. */
export async function readTeamRows(client: pg.ClientBase): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ id: string; line: string }>(
    `SELECT 'team/' || team_id AS id, name AS line FROM read_model.teams
     UNION ALL
     SELECT 'key/' || key_id, 'team ' || team_id || ', hash ' || encode(key_hash, 'hex')
            || CASE WHEN revoked_at IS NULL THEN '' ELSE ', revoked' END
     FROM read_model.api_keys`,
  );
  return new Map(rows.map(({ id, line }) => [id, line]));
}

export type JobRow = Readonly<{
  jobId: string;
  teamId: number;
  debitId: string;
  itemCount: number;
  costCents: number;
  status: string;
}>;

export async function readJobRows(
  client: pg.ClientBase,
  jobIds: readonly string[],
): Promise<ReadonlyMap<string, JobRow>> {
  const { rows } = await client.query<{
    job_id: string;
    team_id: number;
    debit_id: string;
    item_count: number;
    cost_cents: number;
    status: string;
  }>(
    `SELECT job_id, team_id, debit_id, item_count, cost_cents, status FROM read_model.jobs
     WHERE job_id = ANY ($1::uuid[])`,
    [jobIds],
  );
  return new Map(
    rows.map((row) => [
      row.job_id,
      {
        jobId: row.job_id,
        teamId: row.team_id,
        debitId: row.debit_id,
        itemCount: row.item_count,
        costCents: row.cost_cents,
        status: row.status,
      },
    ]),
  );
}

export type ClipRow = Readonly<{
  jobId: string;
  clipId: number;
  status: string;
  terminalEventId: string | null;
  settlement: string | null;
}>;

/** The clips of these jobs, in order. */
export async function readClipRows(
  client: pg.ClientBase,
  jobIds: readonly string[],
): Promise<readonly ClipRow[]> {
  const { rows } = await client.query<{
    job_id: string;
    clip_id: number;
    status: string;
    terminal_event_id: string | null;
    settlement: string | null;
  }>(
    `SELECT job_id, clip_id, status, terminal_event_id, settlement FROM read_model.clips
     WHERE job_id = ANY ($1::uuid[]) ORDER BY job_id, item`,
    [jobIds],
  );
  return rows.map((row) => ({
    jobId: row.job_id,
    clipId: row.clip_id,
    status: row.status,
    terminalEventId: row.terminal_event_id,
    settlement: row.settlement,
  }));
}

export type SwapRow = Readonly<{
  jobId: string;
  mode: string;
  durationSeconds: number;
  status: string;
  terminalEventId: string | null;
  settlement: string | null;
}>;

/** The swaps of these jobs. */
export async function readSwapRows(
  client: pg.ClientBase,
  jobIds: readonly string[],
): Promise<readonly SwapRow[]> {
  const { rows } = await client.query<{
    job_id: string;
    mode: string;
    duration_seconds: number;
    status: string;
    terminal_event_id: string | null;
    settlement: string | null;
  }>(
    `SELECT job_id, mode, duration_seconds, status, terminal_event_id, settlement FROM read_model.swaps
     WHERE job_id = ANY ($1::uuid[])`,
    [jobIds],
  );
  return rows.map((row) => ({
    jobId: row.job_id,
    mode: row.mode,
    durationSeconds: row.duration_seconds,
    status: row.status,
    terminalEventId: row.terminal_event_id,
    settlement: row.settlement,
  }));
}

/** Every job that has a row, or clips, or a swap. */
export async function readJobIds(client: pg.ClientBase): Promise<readonly string[]> {
  const { rows } = await client.query<{ job_id: string }>(
    `SELECT job_id FROM read_model.jobs UNION SELECT job_id FROM read_model.clips
     UNION SELECT job_id FROM read_model.swaps`,
  );
  return rows.map((row) => row.job_id);
}
