import type pg from 'pg';
import { optionalText, text, timestamp } from '../column-values.ts';
import type { SwapEndRow, SwapRow } from './job-rows.ts';

/** The statements on face swaps: one row per job, beside the job's own. */

/** Adds swaps that are being processed; one that is there already stays as it is. */
export async function insertSwaps(client: pg.ClientBase, swaps: readonly SwapRow[]): Promise<void> {
  await client.query(
    `INSERT INTO read_model.swaps (job_id, mode, duration_seconds, status)
     SELECT job_id, mode, duration_seconds, 'processing'
     FROM unnest($1::uuid[], $2::text[], $3::int[]) AS new (job_id, mode, duration_seconds)
     ON CONFLICT DO NOTHING`,
    [
      swaps.map((swap) => swap.jobId),
      swaps.map((swap) => text(swap.mode)),
      swaps.map((swap) => swap.durationSeconds),
    ],
  );
}

/** Ends the swaps that are still being processed: the first terminal event of a swap counts. */
export async function endSwaps(client: pg.ClientBase, ends: readonly SwapEndRow[]): Promise<void> {
  await client.query(
    `UPDATE read_model.swaps AS swap
     SET status = ended.status, terminal_event_id = ended.event_id, finished_at = ended.finished_at,
         error = ended.error, object_key = ended.object_key
     FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[])
       AS ended (job_id, status, event_id, finished_at, error, object_key)
     WHERE swap.job_id = ended.job_id AND swap.status = 'processing'`,
    [
      ends.map((end) => end.jobId),
      ends.map((end) => end.status),
      ends.map((end) => end.eventId),
      ends.map((end) => timestamp(end.finishedAtMs)),
      ends.map((end) => optionalText(end.error)),
      ends.map((end) => optionalText(end.objectKey)),
    ],
  );
}

/** Copies the settlements of these swaps from the wallets' transactions; the first one counts. */
export async function settleSwaps(client: pg.ClientBase, jobIds: readonly string[]): Promise<void> {
  await client.query(
    `UPDATE read_model.swaps AS swap
     SET settlement = settled.settlement, settled_at = settled.occurred_at
     FROM (
       SELECT DISTINCT ON (job_id) job_id, occurred_at,
              CASE type WHEN 'WalletRefunded' THEN 'refunded' ELSE 'captured' END AS settlement
       FROM read_model.wallet_transactions
       WHERE job_id = ANY ($1::uuid[]) AND item IS NOT NULL
       ORDER BY job_id, team_id, seq
     ) AS settled
     WHERE swap.job_id = settled.job_id AND swap.settlement IS NULL`,
    [jobIds],
  );
}

/**
 * Finishes the jobs whose swap is terminal and, where it failed, settled, as of the last of these events.
 * Returns those that were finished by it.
 */
export async function finishSwapJobs(
  client: pg.ClientBase,
  jobIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await client.query<{ job_id: string }>(
    `UPDATE read_model.jobs AS job
     SET status = swap.status, stage = NULL, stage_at = NULL, progress_percent = NULL,
         finished_at = GREATEST(swap.finished_at, CASE WHEN swap.status = 'failed' THEN swap.settled_at END)
     FROM read_model.swaps AS swap
     WHERE swap.job_id = ANY ($1::uuid[]) AND job.job_id = swap.job_id AND job.status = 'processing'
       AND (swap.status = 'completed' OR (swap.status = 'failed' AND swap.settlement IS NOT NULL))
     RETURNING job.job_id`,
    [jobIds],
  );
  return rows.map((row) => row.job_id);
}
