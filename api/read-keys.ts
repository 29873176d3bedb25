import type pg from 'pg';
import { queryRows } from './database.ts';

/** What the API reads of keys: one named function per statement. */

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

/** How many of a team's keys are neither revoked nor expired. */
export async function countActiveKeys(pool: pg.Pool, teamId: number, now: Date): Promise<number> {
  const [row] = await queryRows<{ count: number }>(
    pool,
    `SELECT count(*)::int AS count FROM read_model.api_keys
     WHERE team_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`,
    [teamId, now],
  );
  return row?.count ?? 0;
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
