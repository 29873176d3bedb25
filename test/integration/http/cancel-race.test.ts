import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { type SeededRandom, seededRandom } from '#test/seeded-random.ts';
import type { Worker } from '#workers/runtime/worker.ts';
import { ApiFixture, type ApiInstance, type Team, until } from '../api-fixture.ts';
import { audit } from '../audit/running-audit.ts';
import { startTestWorker } from '../workers/running-worker.ts';
import { scriptedPipeline } from '../workers/scripted-pipeline.ts';

/** Jobs that are cancelled at any moment of their lives, while workers finish their clips. */

const JOBS = 40;
const CALLERS = 8;
const LONGEST_WAIT_MS = 600;

let fixture: ApiFixture;
let apis: readonly ApiInstance[];
let storage: ObjectStorage;
let workers: readonly Worker[] = [];

beforeAll(async () => {
  fixture = await ApiFixture.open({ RATE_LIMIT_PER_MINUTE: '100000', LOG_LEVEL: 'silent' });
  apis = await Promise.all([fixture.startApi(), fixture.startApi()]);
  const config = parseConfig(fixture.environment);
  storage = ObjectStorage.connect(storageSettings(config));
  const around = { config, kafka: fixture.kafka, storage };
  const { pipeline } = scriptedPipeline({ renderMs: 60 });
  workers = [
    await startTestWorker(around, pipeline, { concurrency: 3 }),
    await startTestWorker(around, pipeline, { concurrency: 3 }),
  ];
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  storage?.close();
  await fixture?.close();
});

type Cancelled = Readonly<{ jobId: string; answers: readonly Readonly<Record<string, unknown>>[] }>;

/** Creates a job and cancels it after a while, sometimes through both instances at once. */
async function createAndCancel(team: Team, random: SeededRandom): Promise<Cancelled> {
  const [api, other] = random() < 0.5 ? apis : [...apis].reverse();
  if (api === undefined || other === undefined) throw new Error('Two instances are needed.');
  const body = { video_url: 'https://example.com/video.mp4', num_clips: 1 + Math.floor(random() * 4) };
  const created = await api.request('POST', '/v1/clip', { key: team.key, body });
  expect(created.status).toBe(200);
  const jobId = String(created.body['job_id']);
  // Half of them when the first clip is finished, on a machine of any speed; the others at any moment.
  if (random() < 0.5) await untilFirstClip(api, team, jobId);
  else await delay(random() * LONGEST_WAIT_MS);
  const through = random() < 0.3 ? [api, other] : [other];
  return { jobId, answers: await Promise.all(through.map((instance) => cancel(instance, team, jobId))) };
}

const untilFirstClip = (api: ApiInstance, team: Team, jobId: string) =>
  until('a clip to be finished', async () => {
    const { body } = await api.request('GET', `/v1/clip/${jobId}`, { key: team.key });
    const progress = body['progress'] as { completed: number } | undefined;
    return body['status'] === 'completed' || (progress?.completed ?? 0) > 0;
  });

/** Until it is known what came back; a finished job counts as nothing. */
async function cancel(api: ApiInstance, team: Team, jobId: string) {
  for (;;) {
    const { status, body } = await api.request('DELETE', `/v1/clip/${jobId}`, { key: team.key });
    if (status === 200) return body;
    if (status === 409) return { cancelled_clips: 0, refunded_cents: 0 };
    expect([202, 503]).toContain(status);
  }
}

type EndedClip = Readonly<{
  job_id: string;
  clip_id: number;
  status: string;
  error: string | null;
  settlement: string | null;
}>;

test('each clip is earned or given back, never both, whenever its job is cancelled', async () => {
  const team = await fixture.createTeam({ cents: JOBS * 4 * 150 });
  const random = seededRandom(20_261_121);
  const done: Cancelled[] = [];
  const call = async () => {
    while (done.length < JOBS) done.push(await createAndCancel(team, random));
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  const clips = async () =>
    (
      await fixture.pool.query<EndedClip>(
        `SELECT job_id, clip_id, clip.status, error, settlement
         FROM read_model.clips AS clip JOIN read_model.jobs AS job USING (job_id) WHERE job.team_id = $1`,
        [team.teamId],
      )
    ).rows;
  await until('every clip to be settled', async () =>
    (await clips()).every(({ settlement }) => settlement !== null),
  );
  const ended = await clips();
  const completed = ended.filter(({ status }) => status === 'completed');
  const cancelled = ended.filter(({ error }) => error === 'The job was cancelled.');
  expect(completed.length + cancelled.length).toBe(ended.length);
  // Otherwise there was no race.
  expect(completed.length).toBeGreaterThan(0);
  expect(cancelled.length).toBeGreaterThan(0);
  for (const { status, settlement } of ended)
    expect(settlement).toBe(status === 'completed' ? 'captured' : 'refunded');

  for (const { jobId, answers } of done) {
    const count = cancelled.filter(({ job_id }) => job_id === jobId).length;
    for (const answer of answers)
      expect(answer).toMatchObject({ cancelled_clips: count, refunded_cents: count * 150 });
  }
  const { rows } = await fixture.pool.query(
    'SELECT balance_cents FROM read_model.wallets WHERE team_id = $1',
    [team.teamId],
  );
  expect(rows).toEqual([{ balance_cents: JOBS * 4 * 150 - completed.length * 150 }]);
  for (const { job_id, clip_id } of completed)
    expect(await storage.head(`results/${job_id}/${clip_id}.mp4`)).toBeDefined();
  expect(await audit(fixture.environment, 'verify')).toMatchObject({ exitCode: 0, error: '' });
});
