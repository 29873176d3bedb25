import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faceSwapJobBody } from '#api/http/get-face-swap-job.ts';
import { parseConfig } from '#infra/config.ts';
import { type Appender, openAppender } from '#infra/kafka/appender.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { encodeRecord } from '#schemas/codec.ts';
import { type ApiAnswer, ApiFixture, type ApiInstance, type Team, until } from '../api-fixture.ts';
import { audit } from '../audit/running-audit.ts';
import { dumpReadModel } from '../projector/read-model-dump.ts';

/** Face swaps as clients follow them; the ledger, the settlement and the projector are real, the worker is played. */

let fixture: ApiFixture;
let api: ApiInstance;
let appender: Appender;
let storage: ObjectStorage;

beforeAll(async () => {
  fixture = await ApiFixture.open({ RATE_LIMIT_PER_MINUTE: '10000', REFUND_FAILED_CLIPS: 'off' });
  api = await fixture.startApi();
  appender = await openAppender(fixture.kafka, { log: fixture.log });
  storage = ObjectStorage.connect(storageSettings(parseConfig(fixture.environment)));
  await storage.ensureBucket();
});

afterAll(async () => {
  storage?.close();
  await appender?.close();
  await fixture?.close();
});

type Swap = Readonly<{ job_id: string; team_id: number; debit_id: string }>;

/** Has the ledger charge for a swap and request it, as a create does once there are workers. */
async function orderSwap(
  team: Team,
  { seconds = 10, deadlineMs = 7_200_000 }: { seconds?: number; deadlineMs?: number } = {},
): Promise<Swap> {
  const jobId = randomUUID();
  const reply = await fixture.submit({
    name: 'RequestJob',
    value: {
      ...fixture.envelope(team.teamId),
      job_id: jobId,
      kind: 'face_swap',
      item_count: 1,
      item_cents: seconds * 20,
      request_hash: 'a'.repeat(64),
      job_deadline_at: Date.now() + deadlineMs,
      clip: null,
      face_swap: {
        video_url: 'https://example.com/video.mp4',
        video_object_key: null,
        face_image_url: 'https://example.com/face.jpg',
        face_image_object_key: null,
        mode: 'face',
        duration_seconds: seconds,
      },
      callback_url: null,
    },
  });
  return { job_id: jobId, team_id: team.teamId, debit_id: reply.debit_id ?? '' };
}

const progress = ({ job_id, team_id }: Swap, stage: string, fraction: number) =>
  appender.append([
    {
      topic: 'job.progress',
      key: job_id,
      value: encodeRecord('JobProgressed', { job_id, team_id, stage, fraction, occurred_at: Date.now() }),
    },
  ]);

const terminal = (swap: Swap) => ({ ...swap, event_id: randomUUID(), occurred_at: Date.now() });

const complete = (swap: Swap, objectKey: string) =>
  appender.append([
    {
      topic: 'job.events',
      key: swap.job_id,
      value: encodeRecord('SwapCompleted', {
        ...terminal(swap),
        object_key: objectKey,
        sheet_object_key: null,
        engine: 'landmark',
        mode: 'face',
        duration_ms: 9_030,
        width: 1280,
        height: 720,
        byte_size: 5,
        frame_count: 225,
        swapped_frame_count: 200,
        missed_frame_count: 0,
        segment_count: 1,
        notes: [],
      }),
    },
  ]);

const fail = (swap: Swap, error: string) =>
  appender.append([
    {
      topic: 'job.events',
      key: swap.job_id,
      value: encodeRecord('SwapFailed', { ...terminal(swap), code: 'no_face_in_video', error }),
    },
  ]);

const statusOf = (team: Team, { job_id }: Pick<Swap, 'job_id'>): Promise<ApiAnswer> =>
  api.request('GET', `/v1/face-swap/${job_id}`, { key: team.key });

async function untilStatus(team: Team, swap: Swap, status: string): Promise<ApiAnswer> {
  await until(`the swap to be ${status}`, async () => (await statusOf(team, swap)).body['status'] === status);
  return statusOf(team, swap);
}

const walletOf = async (team: Team) =>
  (await api.request('GET', '/v1/wallet', { key: team.key })).body as Record<string, number>;

async function settlementsOf({ job_id }: Swap): Promise<readonly unknown[]> {
  const { rows } = await fixture.pool.query(
    `SELECT type, amount_cents FROM read_model.wallet_transactions WHERE job_id = $1 AND item IS NOT NULL`,
    [job_id],
  );
  return rows.map(({ type, amount_cents }) => [type, amount_cents]);
}

describe('a face swap', () => {
  test('shows how far it is, and that never falls', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const swap = await orderSwap(team);
    const first = await statusOf(team, swap);
    expect(first.status).toBe(200);
    expect(first.headers.get('retry-after')).toBe('5');
    const body = faceSwapJobBody.parse(first.body);
    expect(first.body).toEqual({
      job_id: swap.job_id,
      status: 'processing',
      progress: 0,
      created_at: body.created_at,
    });
    expect(Date.parse(body.created_at)).toBeGreaterThan(Date.now() - 60_000);
    await progress(swap, 'swapping', 0.629);
    await until('the progress', async () => (await statusOf(team, swap)).body['progress'] === 62);
    await progress(swap, 'swapping again', 0.1);
    await progress(swap, 'joining', 0.7);
    const seen: unknown[] = [];
    await until('the later progress', async () => {
      seen.push((await statusOf(team, swap)).body['progress']);
      return seen.at(-1) === 70;
    });
    expect(seen.every((percent) => percent === 62 || percent === 70)).toBe(true);
    await progress(swap, 'mad', Number.POSITIVE_INFINITY);
    await until('all of it', async () => (await statusOf(team, swap)).body['progress'] === 100);
  });

  test('that is completed is earned, and downloads under a good name for seven days', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const swap = await orderSwap(team, { seconds: 11 });
    const key = `results/${swap.job_id}/swap.mp4`;
    await storage.putBytes(key, Buffer.from('video'), { contentType: 'video/mp4' });
    await complete(swap, key);
    const done = await untilStatus(team, swap, 'completed');
    const body = faceSwapJobBody.parse(done.body);
    const link = String(done.body['download_url']);
    expect(done.body).toEqual({
      job_id: swap.job_id,
      status: 'completed',
      created_at: body.created_at,
      download_url: link,
    });
    expect(done.headers.get('retry-after')).toBeNull();
    expect(new URL(link).searchParams.get('X-Amz-Expires')).toBe(String(7 * 86_400));
    const downloaded = await fetch(link, { headers: { range: 'bytes=1-3' } });
    expect([downloaded.status, await downloaded.text()]).toEqual([206, 'ide']);
    expect(downloaded.headers.get('content-disposition')).toContain(
      `filename="face swap ${swap.job_id.slice(0, 8)}.mp4"`,
    );
    await until('it to be earned', async () => (await settlementsOf(swap)).length > 0);
    expect(await settlementsOf(swap)).toEqual([['ChargeCaptured', 0]]);
    await fail(swap, 'Too late.');
    await progress(swap, 'late', 0.2);
    await fixture.rebuild();
    await untilStatus(team, swap, 'completed');
    expect(await walletOf(team)).toMatchObject({ balance_cents: 780, total_spent_cents: 220 });
  });

  test('that failed is given back whole, whatever holds for clips, and says so only with the money', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const swap = await orderSwap(team, { seconds: 12 });
    expect(await walletOf(team)).toMatchObject({ balance_cents: 760 });
    await fail(swap, 'No face was found in the video.');
    // The first answer that says failed already finds the money there.
    let balance: number | undefined;
    await until('the swap to fail', async () => {
      if ((await statusOf(team, swap)).body['status'] !== 'failed') return false;
      balance ??= (await walletOf(team))['balance_cents'];
      return true;
    });
    expect(balance).toBe(1_000);
    const failed = await statusOf(team, swap);
    expect(failed.body).toEqual({
      job_id: swap.job_id,
      status: 'failed',
      error: 'No face was found in the video.',
      created_at: faceSwapJobBody.parse(failed.body).created_at,
    });
    expect(await settlementsOf(swap)).toEqual([['WalletRefunded', 240]]);
    expect(await walletOf(team)).toMatchObject({ balance_cents: 1_000, total_spent_cents: 0 });
  });

  test('ends by its first word: what comes later, twice or of clips, changes nothing', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const swap = await orderSwap(team);
    await Promise.all([fail(swap, 'First.'), complete(swap, 'results/x.mp4'), fail(swap, 'Second.')]);
    await until('an end', async () => (await statusOf(team, swap)).body['status'] !== 'processing');
    await until('its settlement', async () => (await settlementsOf(swap)).length > 0);
    const { status } = (await statusOf(team, swap)).body;
    const settled = await settlementsOf(swap);
    expect(settled).toEqual(status === 'failed' ? [['WalletRefunded', 200]] : [['ChargeCaptured', 0]]);
    await fail(swap, 'Third.');
    await fixture.rebuild();
    await untilStatus(team, swap, String(status));
    expect(await settlementsOf(swap)).toEqual(settled);
  });

  test('that passes its deadline fails and is given back without any worker', async () => {
    const hasty = await fixture.startApi({ JOB_DEADLINE: '1s' });
    const team = await fixture.createTeam({ cents: 1_000 });
    const swap = await orderSwap(team, { deadlineMs: 500 });
    const failed = await untilStatus(team, swap, 'failed');
    expect(failed.body['error']).toBe('The face swap was not finished within its time limit.');
    expect(await settlementsOf(swap)).toEqual([['WalletRefunded', 200]]);
    expect(await walletOf(team)).toMatchObject({ balance_cents: 1_000 });
    await hasty.stop();
  });
});

describe('who asks for a job that is not theirs to see gets 404', () => {
  test.each(['no-uuid', randomUUID(), '%2e%2e', ' '])('%s', async (jobId) => {
    const team = await fixture.createTeam();
    expect(await statusOf(team, { job_id: encodeURIComponent(jobId) })).toMatchObject({
      status: 404,
      body: { error: 'Job not found' },
    });
  });

  test("another team's swap, a clip's job here, a swap's job there", async () => {
    const team = await fixture.createTeam();
    const other = await fixture.createTeam();
    const swap = await orderSwap(team);
    const clip = await api.request('POST', '/v1/clip', {
      key: team.key,
      body: { video_url: 'https://example.com/video.mp4' },
    });
    expect(clip.status).toBe(200);
    expect(await statusOf(other, swap)).toMatchObject({ status: 404 });
    expect(await statusOf(team, { job_id: String(clip.body['job_id']) })).toMatchObject({ status: 404 });
    expect(await api.request('GET', `/v1/clip/${swap.job_id}`, { key: team.key })).toMatchObject({
      status: 404,
    });
    expect(await statusOf(team, { job_id: swap.job_id.toUpperCase() })).toMatchObject({ status: 200 });
  });
});

test('a rebuild gives the same rows, and the audit finds log and rows right', async () => {
  const swaps = async () => (await dumpReadModel(fixture.pool))['swaps'];
  const before = await swaps();
  expect(before?.length).toBeGreaterThan(4);
  await fixture.rebuild();
  await until('the same swaps to be there again', async () => String(await swaps()) === String(before));
  const { exitCode, json } = await audit(fixture.environment, 'verify');
  expect(json()).toMatchObject({ ok: true, postgres: 'compared', faults: [] });
  expect(exitCode).toBe(0);
});
