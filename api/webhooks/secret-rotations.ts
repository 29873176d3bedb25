import type pg from 'pg';
import { queryRows } from '../database.ts';
import { ROTATIONS_TO_KNOW, type Rotation, type SigningVersion, signingVersions } from './team-secrets.ts';

/** The versions whose secrets sign a team's webhooks at `now`, newest first. */
export async function readSigningVersions(
  pool: pg.Pool,
  teamId: number,
  now: Date,
): Promise<readonly [SigningVersion, ...SigningVersion[]]> {
  return signingVersions(teamId, await newestRotations(pool, teamId), now);
}

async function newestRotations(pool: pg.Pool, teamId: number): Promise<readonly Rotation[]> {
  const rows = await queryRows<{ version: string; rotated_at: Date }>(
    pool,
    `SELECT version, rotated_at FROM read_model.webhook_secret_rotations
     WHERE team_id = $1 ORDER BY seq DESC LIMIT $2`,
    [teamId, ROTATIONS_TO_KNOW],
  );
  return rows.map((row) => ({ version: row.version, rotatedAt: row.rotated_at }));
}
