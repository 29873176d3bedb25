import type pg from 'pg';
import type { RecordTypes } from '#schemas/records.ts';
import { optionalTimestamp, text, timestamp } from '../column-values.ts';

/** The first TeamCreated of a team counts. */
export async function insertTeams(
  client: pg.ClientBase,
  created: readonly RecordTypes['TeamCreated'][],
): Promise<void> {
  await client.query(
    `INSERT INTO read_model.teams (team_id, name, created_at)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::timestamptz[])
     ON CONFLICT DO NOTHING`,
    [
      created.map((event) => event.team_id),
      created.map((event) => text(event.name)),
      created.map((event) => timestamp(event.occurred_at)),
    ],
  );
}

/** The first ApiKeyCreated of a key counts. */
export async function insertApiKeys(
  client: pg.ClientBase,
  created: readonly RecordTypes['ApiKeyCreated'][],
): Promise<void> {
  await client.query(
    `INSERT INTO read_model.api_keys (key_id, team_id, name, prefix, key_hash, expires_at, created_at)
     SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bytea[], $6::timestamptz[],
                          $7::timestamptz[])
     ON CONFLICT DO NOTHING`,
    [
      created.map((event) => event.key_id),
      created.map((event) => event.team_id),
      created.map((event) => text(event.name)),
      created.map((event) => text(event.prefix)),
      created.map((event) => event.key_hash),
      created.map((event) => optionalTimestamp(event.expires_at)),
      created.map((event) => timestamp(event.occurred_at)),
    ],
  );
}

/** The first ApiKeyRevoked of a key counts. */
export async function revokeApiKeys(
  client: pg.ClientBase,
  revoked: readonly RecordTypes['ApiKeyRevoked'][],
): Promise<void> {
  await client.query(
    `UPDATE read_model.api_keys AS key
     SET revoked_at = first.revoked_at
     FROM (
       SELECT DISTINCT ON (key_id) key_id, revoked_at
       FROM unnest($1::uuid[], $2::timestamptz[]) WITH ORDINALITY AS event (key_id, revoked_at, place)
       ORDER BY key_id, place
     ) AS first
     WHERE key.key_id = first.key_id AND key.revoked_at IS NULL`,
    [revoked.map((event) => event.key_id), revoked.map((event) => timestamp(event.occurred_at))],
  );
}

/** A team's place in its chain tells a rotation that is read again from another one. */
export async function insertRotations(
  client: pg.ClientBase,
  rotated: readonly RecordTypes['WebhookSecretRotated'][],
): Promise<void> {
  await client.query(
    `INSERT INTO read_model.webhook_secret_rotations (team_id, seq, version, rotated_at)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::timestamptz[])
     ON CONFLICT DO NOTHING`,
    [
      rotated.map((event) => event.team_id),
      rotated.map((event) => event.seq),
      rotated.map((event) => event.version),
      rotated.map((event) => timestamp(event.occurred_at)),
    ],
  );
}

/**
 * Moves the sequence of team ids past `teamId`, never back: the log of another database may hold teams that
 * this one has not handed out. Sequences know no transactions, so the lock keeps two of these in order.
 */
export async function passTeamId(client: pg.ClientBase, teamId: number): Promise<void> {
  const { rows } = await client.query<{ behind: boolean }>(
    'SELECT last_value < $1 OR (last_value = $1 AND NOT is_called) AS behind FROM service.team_ids',
    [teamId],
  );
  if (rows[0]?.behind !== true) return;
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('service.team_ids', 0))`);
  await client.query(
    `SELECT setval('service.team_ids', $1) FROM service.team_ids
     WHERE last_value < $1 OR (last_value = $1 AND NOT is_called)`,
    [teamId],
  );
}
