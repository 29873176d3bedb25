import type pg from 'pg';
import { queryRows } from '../database.ts';

/** The deliveries that have to be made, and who makes them: one named function per statement. */

export type FinishedJob = Readonly<{
  jobId: string;
  teamId: number;
  kind: string;
  callbackUrl: string;
  finishedAt: Date;
}>;

/** Jobs that finished within `withinMs` and have a callback but no delivery yet, the oldest `most` first. */
export async function findUnannouncedJobs(
  pool: pg.Pool,
  { withinMs, most }: { readonly withinMs: number; readonly most: number },
): Promise<readonly FinishedJob[]> {
  const rows = await queryRows<{
    job_id: string;
    team_id: number;
    kind: string;
    callback_url: string;
    finished_at: Date;
  }>(
    pool,
    `SELECT job.job_id, job.team_id, job.kind, job.callback_url, job.finished_at
     FROM read_model.jobs AS job
     WHERE job.callback_url IS NOT NULL AND job.status <> 'processing'
       AND job.finished_at > now() - $1 * interval '1 ms'
       AND NOT EXISTS (
         SELECT FROM service.webhook_deliveries AS delivery WHERE delivery.job_id = job.job_id
       )
     ORDER BY job.finished_at
     LIMIT $2`,
    [withinMs, most],
  );
  return rows.map((row) => ({
    jobId: row.job_id,
    teamId: row.team_id,
    kind: row.kind,
    callbackUrl: row.callback_url,
    finishedAt: row.finished_at,
  }));
}

export type NewDelivery = Readonly<{ deliveryId: string; host: string; job: FinishedJob }>;

/** Adds deliveries that are due at once; a job that has one already, through another instance, keeps it. */
export async function insertDeliveries(pool: pg.Pool, deliveries: readonly NewDelivery[]): Promise<void> {
  await queryRows(
    pool,
    `INSERT INTO service.webhook_deliveries
       (delivery_id, job_id, team_id, kind, url, host, occurred_at, next_attempt_at, created_at)
     SELECT new.*, now(), date_trunc('milliseconds', now())
     FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
       AS new
     ON CONFLICT DO NOTHING`,
    [
      deliveries.map(({ deliveryId }) => deliveryId),
      deliveries.map(({ job }) => job.jobId),
      deliveries.map(({ job }) => job.teamId),
      deliveries.map(({ job }) => job.kind),
      deliveries.map(({ job }) => job.callbackUrl),
      deliveries.map(({ host }) => host),
      deliveries.map(({ job }) => job.finishedAt),
    ],
  );
}

/** A delivery that this instance, and no other, is to attempt now. */
export type ClaimedDelivery = Readonly<{
  deliveryId: string;
  claimId: string;
  jobId: string;
  teamId: number;
  kind: string;
  url: string;
  host: string;
  occurredAt: Date;
  /** Which attempt of the schedule this is, from 1. */
  attempt: number;
}>;

/** Attempts under way to one host for one team. */
export type BusyLane = Readonly<{ teamId: number; host: string; count: number }>;

export type ClaimLimits = Readonly<{
  most: number;
  perLane: number;
  perTeam: number;
  busy: readonly BusyLane[];
  /** After this the attempt counts as lost, and another instance makes it again. */
  leaseMs: number;
}>;

/**
 * Claims due deliveries, the longest due first. Each team, and each host of a team, only up to its share: the
 * search walks from lane to lane (team and host) in the index and looks at a few rows of each, so that a
 * backlog of one team costs the others neither time nor places.
 */
export async function claimDueDeliveries(
  pool: pg.Pool,
  { most, perLane, perTeam, busy, leaseMs }: ClaimLimits,
): Promise<readonly ClaimedDelivery[]> {
  const rows = await queryRows<{
    delivery_id: string;
    claim_id: string;
    job_id: string;
    team_id: number;
    kind: string;
    url: string;
    host: string;
    occurred_at: Date;
    attempts_in_schedule: number;
  }>(
    pool,
    `WITH RECURSIVE lane AS (
       (SELECT team_id, host FROM service.webhook_deliveries WHERE status = 'pending'
        ORDER BY team_id, host LIMIT 1)
       UNION ALL
       SELECT following.team_id, following.host
       FROM lane CROSS JOIN LATERAL (
         SELECT team_id, host FROM service.webhook_deliveries
         WHERE status = 'pending' AND (team_id, host) > (lane.team_id, lane.host)
         ORDER BY team_id, host LIMIT 1
       ) AS following
     ), busy AS (
       SELECT * FROM unnest($1::bigint[], $2::text[], $3::int[]) AS busy (team_id, host, attempts)
     ), due AS (
       SELECT lane.team_id, ready.delivery_id, ready.next_attempt_at
       FROM lane LEFT JOIN busy USING (team_id, host)
       CROSS JOIN LATERAL (
         SELECT delivery_id, next_attempt_at FROM service.webhook_deliveries AS delivery
         WHERE status = 'pending' AND delivery.team_id = lane.team_id AND delivery.host = lane.host
           AND next_attempt_at <= now() AND (claimed_until IS NULL OR claimed_until <= now())
         ORDER BY next_attempt_at
         LIMIT GREATEST(0, $4::int - COALESCE(busy.attempts, 0))
       ) AS ready
     ), placed AS (
       SELECT delivery_id, next_attempt_at,
              row_number() OVER (PARTITION BY team_id ORDER BY next_attempt_at)
                + COALESCE((SELECT sum(attempts) FROM busy WHERE busy.team_id = due.team_id), 0) AS place
       FROM due
     ), chosen AS (
       SELECT delivery_id FROM placed WHERE place <= $5::int ORDER BY next_attempt_at LIMIT $6::int
     ), locked AS (
       SELECT delivery.delivery_id
       FROM service.webhook_deliveries AS delivery JOIN chosen USING (delivery_id)
       WHERE status = 'pending' AND next_attempt_at <= now()
         AND (claimed_until IS NULL OR claimed_until <= now())
       FOR UPDATE OF delivery SKIP LOCKED
     )
     UPDATE service.webhook_deliveries AS delivery
     SET claim_id = gen_random_uuid(), claimed_until = now() + $7 * interval '1 ms', last_attempt_at = now(),
         attempts = attempts + 1, attempts_in_schedule = attempts_in_schedule + 1
     FROM locked
     WHERE delivery.delivery_id = locked.delivery_id
     RETURNING delivery.delivery_id, claim_id, job_id, team_id, kind, url, host, occurred_at,
               attempts_in_schedule`,
    [
      busy.map(({ teamId }) => teamId),
      busy.map(({ host }) => host),
      busy.map(({ count }) => count),
      perLane,
      perTeam,
      most,
      leaseMs,
    ],
  );
  return rows.map((row) => ({
    deliveryId: row.delivery_id,
    claimId: row.claim_id,
    jobId: row.job_id,
    teamId: row.team_id,
    kind: row.kind,
    url: row.url,
    host: row.host,
    occurredAt: row.occurred_at,
    attempt: row.attempts_in_schedule,
  }));
}

type Claim = Pick<ClaimedDelivery, 'deliveryId' | 'claimId'>;

export type AttemptRecord = Readonly<{
  status: 'pending' | 'delivered' | 'failed';
  /** How long a pending one waits. */
  pauseMs: number;
  statusCode: number | null;
  error: string | null;
}>;

/** Says how a claimed attempt ended. An attempt that was given up for lost meanwhile changes nothing. */
export async function recordAttempt(pool: pg.Pool, claim: Claim, record: AttemptRecord): Promise<void> {
  await queryRows(
    pool,
    `UPDATE service.webhook_deliveries
     SET status = $3, claim_id = NULL, claimed_until = NULL, last_status_code = $5, last_error = $6,
         next_attempt_at = CASE WHEN $3 = 'pending' THEN now() + $4 * interval '1 ms' END,
         delivered_at = CASE WHEN $3 = 'delivered' THEN now() ELSE delivered_at END
     WHERE delivery_id = $1 AND claim_id = $2`,
    [claim.deliveryId, claim.claimId, record.status, record.pauseMs, record.statusCode, record.error],
  );
}

/** Gives a claimed delivery back as if it had not been attempted, to be tried again after `pauseMs`. */
export async function giveBack(pool: pg.Pool, claim: Claim, pauseMs: number): Promise<void> {
  await queryRows(
    pool,
    `UPDATE service.webhook_deliveries
     SET claim_id = NULL, claimed_until = NULL, next_attempt_at = now() + $3 * interval '1 ms',
         attempts = attempts - 1, attempts_in_schedule = attempts_in_schedule - 1
     WHERE delivery_id = $1 AND claim_id = $2`,
    [claim.deliveryId, claim.claimId, pauseMs],
  );
}

export type Backlog = Readonly<{ pending: number; oldestDueSeconds: number }>;

/** How many deliveries are still to be made, and since when the longest due one waits. */
export async function measureBacklog(pool: pg.Pool): Promise<Backlog> {
  const [row] = await queryRows<{ pending: number; oldest_due_seconds: number }>(
    pool,
    `SELECT count(*) AS pending,
            GREATEST(0, COALESCE(extract(epoch FROM now() - min(next_attempt_at)), 0))::float8 AS oldest_due_seconds
     FROM service.webhook_deliveries WHERE status = 'pending'`,
    [],
  );
  return { pending: row?.pending ?? 0, oldestDueSeconds: row?.oldest_due_seconds ?? 0 };
}

/** Forgets at most `most` deliveries that are older than `olderThanMs` and over. */
export async function deleteOldDeliveries(
  pool: pg.Pool,
  { olderThanMs, most }: { readonly olderThanMs: number; readonly most: number },
): Promise<void> {
  await queryRows(
    pool,
    `DELETE FROM service.webhook_deliveries
     WHERE delivery_id IN (
       SELECT delivery_id FROM service.webhook_deliveries
       WHERE created_at < now() - $1 * interval '1 ms' AND status <> 'pending'
       ORDER BY created_at LIMIT $2
     )`,
    [olderThanMs, most],
  );
}
