import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { expect } from 'vitest';
import type { RecordToAppend } from '#infra/kafka/record.ts';
import { encodeRecord } from '#schemas/codec.ts';
import type { ClipCompleted } from '#schemas/records.ts';
import { type ApiInstance, type Team, until } from './api-fixture.ts';

/** Clip jobs without workers: ordered as clients do it, ended by the events that workers would append. */

/** A clip of a paid job; `occurred_at` is when it ended, in milliseconds, or now. */
export type PaidClip = Pick<ClipCompleted, 'job_id' | 'item' | 'team_id' | 'debit_id' | 'clip_id'> &
  Partial<Pick<ClipCompleted, 'occurred_at'>>;

/** Orders so many clips, which must be accepted; gives the job's id. */
export async function orderClips(api: ApiInstance, team: Team, count: number): Promise<string> {
  const body = { video_url: 'https://example.com/video.mp4', num_clips: count };
  const created = await api.request('POST', '/v1/clip', { key: team.key, body });
  expect(created.status).toBe(200);
  return String(created.body['job_id']);
}

/** A clip of a job as its row has it; the ledger's reply can be there before the rows, so these are waited for. */
export async function clipOf(pool: pg.Pool, jobId: string, item: number): Promise<PaidClip> {
  const clips: Omit<PaidClip, 'job_id' | 'item'>[] = [];
  await until(`clip ${item} of job ${jobId}`, async () => {
    const { rows } = await pool.query(
      `SELECT job.team_id, job.debit_id, clip.clip_id
       FROM read_model.jobs AS job JOIN read_model.clips AS clip USING (job_id)
       WHERE job.job_id = $1 AND clip.item = $2`,
      [jobId, item],
    );
    return clips.push(...rows) > 0;
  });
  const [clip] = clips;
  if (clip === undefined) throw new Error(`Job ${jobId} has no clip ${item}.`);
  return { job_id: jobId, item, ...clip };
}

/** The end of a clip that was made; `more` is what a test looks at. */
export function clipCompleted(clip: PaidClip, more: Partial<ClipCompleted> = {}): RecordToAppend {
  const value = encodeRecord('ClipCompleted', {
    event_id: randomUUID(),
    occurred_at: Date.now(),
    title: 'A clip',
    heading: null,
    object_key: `results/${clip.job_id}/${clip.clip_id}.mp4`,
    sheet_object_key: null,
    duration_ms: 30_000,
    width: 1080,
    height: 1920,
    byte_size: 1,
    source_start_ms: 0,
    source_end_ms: 30_000,
    notes: [],
    ...clip,
    ...more,
  });
  return { topic: 'job.events', key: clip.job_id, value };
}

/** The end of a clip that could not be made, in a sentence for the client. */
export function clipFailed(clip: PaidClip, error: string): RecordToAppend {
  const ended = { event_id: randomUUID(), occurred_at: Date.now(), ...clip };
  const value = encodeRecord('ClipFailed', { ...ended, code: 'BROKEN', error });
  return { topic: 'job.events', key: clip.job_id, value };
}
