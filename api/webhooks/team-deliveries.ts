import type pg from 'pg';
import { queryRows } from '../database.ts';

/** What a team sees of its deliveries, and what it may do: one named function per statement. */

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

export type TeamDelivery = Readonly<{
  deliveryId: string;
  jobId: string;
  url: string;
  status: DeliveryStatus;
  attempts: number;
  lastAttemptAt: Date | null;
  lastStatusCode: number | null;
  lastError: string | null;
  /** When a pending one is attempted next, at the earliest; null while that happens. */
  nextAttemptAt: Date | null;
  deliveredAt: Date | null;
  createdAt: Date;
}>;

type DeliveryColumns = Readonly<{
  delivery_id: string;
  job_id: string;
  url: string;
  status: DeliveryStatus;
  attempts: number;
  last_attempt_at: Date | null;
  last_status_code: number | null;
  last_error: string | null;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
  created_at: Date;
}>;

const deliveryColumns = `delivery_id, job_id, url, status, attempts, last_attempt_at, last_status_code, last_error,
  CASE WHEN claimed_until IS NULL OR claimed_until <= now() THEN next_attempt_at END AS next_attempt_at,
  delivered_at, created_at`;

export type DeliveriesWanted = Readonly<{
  teamId: number;
  jobId: string | undefined;
  status: DeliveryStatus | undefined;
  /** Only what is older than this place. */
  after: Readonly<{ createdAtMs: number; deliveryId: string }> | undefined;
  most: number;
}>;

/** A team's deliveries of this job and status, newest first. */
export async function listDeliveries(
  pool: pg.Pool,
  { teamId, jobId, status, after, most }: DeliveriesWanted,
): Promise<readonly TeamDelivery[]> {
  const rows = await queryRows<DeliveryColumns>(
    pool,
    `SELECT ${deliveryColumns}
     FROM service.webhook_deliveries
     WHERE team_id = $1
       AND ($2::uuid IS NULL OR job_id = $2)
       AND ($3::text IS NULL OR status = $3)
       AND ($4::timestamptz IS NULL OR (created_at, delivery_id) < ($4::timestamptz, $5::uuid))
     ORDER BY created_at DESC, delivery_id DESC
     LIMIT $6`,
    [
      teamId,
      jobId ?? null,
      status ?? null,
      after === undefined ? null : new Date(after.createdAtMs),
      after?.deliveryId ?? null,
      most,
    ],
  );
  return rows.map(teamDelivery);
}

/**
 * Makes a team's delivery due now, whatever its status, and begins the schedule of retries anew. An attempt
 * that is under way goes on and counts for nothing. Undefined when the team has no such delivery.
 */
export async function replayDelivery(
  pool: pg.Pool,
  wanted: { readonly deliveryId: string; readonly teamId: number },
): Promise<TeamDelivery | undefined> {
  const [row] = await queryRows<DeliveryColumns>(
    pool,
    `UPDATE service.webhook_deliveries
     SET status = 'pending', next_attempt_at = now(), attempts_in_schedule = 0,
         claim_id = NULL, claimed_until = NULL
     WHERE delivery_id = $1 AND team_id = $2
     RETURNING ${deliveryColumns}`,
    [wanted.deliveryId, wanted.teamId],
  );
  return row === undefined ? undefined : teamDelivery(row);
}

const teamDelivery = (row: DeliveryColumns): TeamDelivery => ({
  deliveryId: row.delivery_id,
  jobId: row.job_id,
  url: row.url,
  status: row.status,
  attempts: row.attempts,
  lastAttemptAt: row.last_attempt_at,
  lastStatusCode: row.last_status_code,
  lastError: row.last_error,
  nextAttemptAt: row.next_attempt_at,
  deliveredAt: row.delivered_at,
  createdAt: row.created_at,
});
