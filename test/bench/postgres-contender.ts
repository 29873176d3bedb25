import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type Contender, ITEM_CENTS, RICH_CENTS } from './contender.ts';

/** Beyond this, connections only take each other's processor time here. */
const POOL_SIZE = 32;

const schema = `
  CREATE TABLE IF NOT EXISTS wallets (team_id bigint PRIMARY KEY, balance_cents bigint NOT NULL);
  CREATE TABLE IF NOT EXISTS wallet_entries (
    team_id bigint NOT NULL, seq bigserial, command_id uuid NOT NULL, amount_cents bigint NOT NULL,
    balance_cents bigint NOT NULL, occurred_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (team_id, seq), UNIQUE (command_id));
  CREATE TABLE IF NOT EXISTS jobs (
    job_id uuid PRIMARY KEY, team_id bigint NOT NULL, request jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now());
`;

const lockWallet = 'SELECT balance_cents FROM wallets WHERE team_id = $1 FOR UPDATE';
const debitWallet = 'UPDATE wallets SET balance_cents = balance_cents - $2 WHERE team_id = $1';
const addEntry =
  'INSERT INTO wallet_entries (team_id, command_id, amount_cents, balance_cents) VALUES ($1, $2, $3, $4)';
const addJob = 'INSERT INTO jobs (job_id, team_id, request) VALUES ($1, $2, $3)';
const request = JSON.stringify({ video_url: 'https://example.com/talk.mp4', num_clips: 1, style: 'viral' });

/**
 * What one would write instead of a ledger: lock the wallet's row, look at the balance, charge, write the
 * entry (unique by command, so that a repeated one fails) and the job, commit. Prepared statements, a pool.
 */
export async function postgresContender(
  databaseUrl: string,
  { wallets, synchronousCommit }: { readonly wallets: number; readonly synchronousCommit: 'on' | 'off' },
): Promise<Contender> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: POOL_SIZE,
    options: `-c synchronous_commit=${synchronousCommit}`,
  });
  // Connections that end with the server at the end of the run are no failure.
  pool.on('error', () => undefined);
  await pool.query(schema);
  await pool.query(
    `INSERT INTO wallets SELECT team_id, $2 FROM generate_series(1, $1::bigint) AS team_id ON CONFLICT DO NOTHING`,
    [wallets, RICH_CENTS],
  );
  return {
    name: synchronousCommit === 'on' ? 'postgres' : 'postgres, no sync',
    // Nothing is compiled at run time there; what is read and written comes into memory.
    warmUpSeconds: 2,
    debit: (teamId) => debit(pool, teamId),
    close: () => pool.end(),
  };
}

async function debit(pool: pg.Pool, teamId: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query({ name: 'lock', text: lockWallet, values: [teamId] });
    const balanceCents = Number(rows[0]?.balance_cents);
    if (!(balanceCents >= ITEM_CENTS)) throw new Error('A debit was refused: InsufficientBalance');
    await client.query({ name: 'debit', text: debitWallet, values: [teamId, ITEM_CENTS] });
    const entry = [teamId, randomUUID(), ITEM_CENTS, balanceCents - ITEM_CENTS];
    await client.query({ name: 'entry', text: addEntry, values: entry });
    await client.query({ name: 'job', text: addJob, values: [randomUUID(), teamId, request] });
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
