import type pg from 'pg';
import { optionalText, text, timestamp } from '../column-values.ts';
import type { ClipEndRow, ClipRow, JobRequested, Progress } from './job-rows.ts';

/** The first JobRequested of a job counts. Progress that was read before the job is taken along. */
export async function insertJobs(client: pg.ClientBase, requests: readonly JobRequested[]): Promise<void> {
  await client.query(
    `INSERT INTO read_model.jobs
       (job_id, team_id, kind, status, item_count, cost_cents, debit_id, created_at, deadline_at, stage,
        stage_at, progress_percent, callback_url)
     SELECT new.job_id, team_id, kind, 'processing', item_count, cost_cents, debit_id, created_at, deadline_at, stage,
            stage_at, CASE WHEN kind = 'face_swap' THEN COALESCE(percent, 0) END, callback_url
     FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::int[], $5::bigint[], $6::uuid[], $7::timestamptz[],
                 $8::timestamptz[], $9::text[])
       AS new (job_id, team_id, kind, item_count, cost_cents, debit_id, created_at, deadline_at, callback_url)
     LEFT JOIN read_model.job_stages ON job_stages.job_id = new.job_id
     ON CONFLICT DO NOTHING`,
    [
      requests.map((request) => request.job_id),
      requests.map((request) => request.team_id),
      requests.map((request) => text(request.kind)),
      requests.map((request) => request.item_count),
      requests.map((request) => request.item_count * request.item_cents),
      requests.map((request) => request.debit_id),
      requests.map((request) => timestamp(request.occurred_at)),
      requests.map((request) => timestamp(request.deadline_at)),
      requests.map((request) => optionalText(request.callback_url)),
    ],
  );
}

/** Adds clips that are being processed; one that is there already stays as it is. */
export async function insertClips(client: pg.ClientBase, clips: readonly ClipRow[]): Promise<void> {
  await client.query(
    `INSERT INTO read_model.clips (clip_id, job_id, item, status, created_at)
     SELECT clip_id, job_id, item, 'processing', created_at
     FROM unnest($1::bigint[], $2::uuid[], $3::int[], $4::timestamptz[]) AS new (clip_id, job_id, item, created_at)
     ON CONFLICT DO NOTHING`,
    [
      clips.map((clip) => clip.clipId),
      clips.map((clip) => clip.jobId),
      clips.map((clip) => clip.item),
      clips.map((clip) => timestamp(clip.createdAtMs)),
    ],
  );
}

/** Ends the clips that are still being processed: the first terminal event of a clip counts. */
export async function endClips(client: pg.ClientBase, ends: readonly ClipEndRow[]): Promise<void> {
  await client.query(
    `UPDATE read_model.clips AS clip
     SET status = ended.status, terminal_event_id = ended.event_id, finished_at = ended.finished_at,
         title = ended.title, heading = ended.heading, error = ended.error, object_key = ended.object_key,
         duration_ms = ended.duration_ms
     FROM unnest($1::uuid[], $2::int[], $3::text[], $4::uuid[], $5::timestamptz[], $6::text[], $7::text[],
                 $8::text[], $9::text[], $10::bigint[])
       AS ended (job_id, item, status, event_id, finished_at, title, heading, error, object_key, duration_ms)
     WHERE clip.job_id = ended.job_id AND clip.item = ended.item AND clip.status = 'processing'`,
    [
      ends.map((end) => end.jobId),
      ends.map((end) => end.item),
      ends.map((end) => end.status),
      ends.map((end) => end.eventId),
      ends.map((end) => timestamp(end.finishedAtMs)),
      ends.map((end) => optionalText(end.title)),
      ends.map((end) => optionalText(end.heading)),
      ends.map((end) => optionalText(end.error)),
      ends.map((end) => optionalText(end.objectKey)),
      ends.map((end) => end.durationMs),
    ],
  );
}

/** Copies the settlements of these jobs' items from the wallets' transactions; the first one counts. */
export async function settleClips(client: pg.ClientBase, jobIds: readonly string[]): Promise<void> {
  await client.query(
    `UPDATE read_model.clips AS clip
     SET settlement = settled.settlement, settled_at = settled.occurred_at
     FROM (
       SELECT DISTINCT ON (job_id, item) job_id, item, occurred_at,
              CASE type WHEN 'WalletRefunded' THEN 'refunded' ELSE 'captured' END AS settlement
       FROM read_model.wallet_transactions
       WHERE job_id = ANY ($1::uuid[]) AND item IS NOT NULL
       ORDER BY job_id, item, team_id, seq
     ) AS settled
     WHERE clip.job_id = settled.job_id AND clip.item = settled.item AND clip.settlement IS NULL`,
    [jobIds],
  );
}

/**
 * Completes the clip jobs of which every clip is terminal and every failed one is settled, as of the last of these
 * events. Returns those that were completed by it.
 */
export async function completeClipJobs(
  client: pg.ClientBase,
  jobIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await client.query<{ job_id: string }>(
    `UPDATE read_model.jobs AS job
     SET status = 'completed', stage = NULL, stage_at = NULL, progress_percent = NULL, finished_at = finished.finished_at
     FROM (
       SELECT job_id, count(*) AS clip_count,
              max(GREATEST(finished_at, CASE WHEN status = 'failed' THEN settled_at END)) AS finished_at
       FROM read_model.clips
       WHERE job_id = ANY ($1::uuid[])
       GROUP BY job_id
       HAVING bool_and(status = 'completed' OR (status = 'failed' AND settlement IS NOT NULL))
     ) AS finished
     WHERE job.job_id = finished.job_id AND job.item_count = finished.clip_count AND job.status = 'processing'
     RETURNING job.job_id`,
    [jobIds],
  );
  return rows.map((row) => row.job_id);
}

/** Forgets the stages of finished jobs. */
export async function deleteStages(client: pg.ClientBase, jobIds: readonly string[]): Promise<void> {
  await client.query('DELETE FROM read_model.job_stages WHERE job_id = ANY ($1::uuid[])', [jobIds]);
}

/** Keeps the progress of jobs that are not finished, also of those that are no rows yet. */
export async function saveProgress(
  client: pg.ClientBase,
  progress: ReadonlyMap<string, Progress>,
): Promise<void> {
  await client.query(
    `INSERT INTO read_model.job_stages AS kept (job_id, stage, percent, stage_at)
     SELECT new.job_id, new.stage, new.percent, new.stage_at
     FROM unnest($1::uuid[], $2::text[], $3::int[], $4::timestamptz[]) AS new (job_id, stage, percent, stage_at)
     WHERE NOT EXISTS (
       SELECT FROM read_model.jobs WHERE jobs.job_id = new.job_id AND jobs.status <> 'processing'
     )
     ON CONFLICT (job_id) DO UPDATE
       SET stage = excluded.stage, stage_at = excluded.stage_at,
           percent = GREATEST(kept.percent, excluded.percent)`,
    [
      [...progress.keys()],
      [...progress.values()].map(({ stage }) => text(stage)),
      [...progress.values()].map(({ percent }) => percent),
      [...progress.values()].map(({ atMs }) => timestamp(atMs)),
    ],
  );
}

/** Shows the kept progress on the jobs' rows; a percentage only where it is of the whole job. */
export async function showProgress(client: pg.ClientBase, jobIds: readonly string[]): Promise<void> {
  await client.query(
    `UPDATE read_model.jobs AS job
     SET stage = kept.stage, stage_at = kept.stage_at, progress_percent = kept.percent
     FROM (
       SELECT job_id, kept.stage, kept.stage_at, CASE WHEN kind = 'face_swap' THEN percent END AS percent
       FROM read_model.job_stages AS kept JOIN read_model.jobs USING (job_id)
       WHERE job_id = ANY ($1::uuid[]) AND status = 'processing'
     ) AS kept
     WHERE job.job_id = kept.job_id
       AND (job.stage, job.stage_at, job.progress_percent)
         IS DISTINCT FROM (kept.stage, kept.stage_at, kept.percent)`,
    [jobIds],
  );
}
