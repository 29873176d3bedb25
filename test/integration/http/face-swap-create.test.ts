import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faceSwapResponseBody } from '#api/http/face-swap-request.ts';
import { type ApiInstance, type Team, until } from '../api-fixture.ts';
import { file, formOf, text } from './form.ts';
import { SwapSystem } from './swap-system.ts';

/** Face swaps as clients order them, on the real Kafka, Postgres, object storage and ffprobe; no worker makes them. */

const media = process.env['CLIPLEDGER_MEDIA'] ?? '../shared/media';

let system: SwapSystem;
let first: ApiInstance;
let second: ApiInstance;

beforeAll(async () => {
  const [opened, apis] = await SwapSystem.open(2);
  system = opened;
  [first, second] = apis as [ApiInstance, ApiInstance];
});
afterAll(() => system?.close());

async function swapRow(jobId: unknown): Promise<Record<string, unknown>> {
  const { rows } = await system.fixture.pool.query(
    'SELECT mode, duration_seconds, status FROM read_model.swaps WHERE job_id = $1',
    [jobId],
  );
  return rows[0];
}

describe('a face swap is accepted', () => {
  test('with two URLs: 20 cents for each second begun, and readable at once', async () => {
    const team = await system.fixture.createTeam({ cents: 1_000 });
    const created = await system.postJson(first, system.urls('9.03s.mp4'), { team });
    expect(created.status).toBe(202);
    const body = faceSwapResponseBody.strict().parse(created.body);
    expect(body).toEqual({
      job_id: body.job_id,
      mode: 'fullbody',
      duration_seconds: 10,
      cost_cents: 200,
      status: 'processing',
    });
    expect(created.headers.get('location')).toBe(`/v1/face-swap/${body.job_id}`);
    expect(created.headers.get('idempotency-replayed')).toBeNull();
    expect((await second.request('GET', '/v1/wallet', { key: team.key })).body).toMatchObject({
      balance_cents: 800,
      total_spent_cents: 200,
    });
    expect(await swapRow(body.job_id)).toEqual({
      mode: 'fullbody',
      duration_seconds: 10,
      status: 'processing',
    });
    const status = await second.request('GET', `/v1/face-swap/${body.job_id}`, { key: team.key });
    expect(status).toMatchObject({ status: 200, body: { status: 'processing', progress: 0 } });
  });

  test('with two files, which wait in object storage', async () => {
    const form = formOf([
      text('mode', 'face'),
      await system.fileOf('9.03s.mp4', 'video'),
      await system.fileOf('face.webp', 'face_image'),
    ]);
    const created = await system.postForm(first, form);
    expect(created).toMatchObject({
      status: 202,
      body: { mode: 'face', duration_seconds: 10, cost_cents: 200 },
    });
    const jobId = created.body['job_id'];
    expect(await system.uploadsOf(jobId)).toEqual([`uploads/${jobId}/face_image`, `uploads/${jobId}/video`]);
    expect(await system.storage.head(`uploads/${jobId}/video`)).toMatchObject({
      bytes: (await readFile(system.sources.path('9.03s.mp4'))).length,
    });
  });

  test('with a file and a URL, either way round, and fields behind files', async () => {
    const byFile = formOf([
      await system.fileOf('12s.webm', 'video'),
      text('face_image_url', system.sources.url('face.png')),
      text('mode', 'fullbody'),
    ]);
    expect(await system.postForm(first, byFile)).toMatchObject({
      status: 202,
      body: { duration_seconds: 12 },
    });
    const byUrl = formOf([
      await system.fileOf('face.jpg', 'face_image'),
      text('video_url', system.sources.url('12s.avi', 'plain')),
    ]);
    expect(await system.postForm(first, byUrl)).toMatchObject({
      status: 202,
      body: { duration_seconds: 12, mode: 'fullbody' },
    });
  });

  test('as a form with two URLs', async () => {
    const form = formOf(Object.entries(system.urls('12s.mov')).map(([name, url]) => text(name, url)));
    expect(await system.postForm(first, form)).toMatchObject({ status: 202, body: { cost_cents: 240 } });
  });
});

describe('the price', () => {
  /** A wallet with too little in it names the price. */
  let poor: Team;
  beforeAll(async () => {
    poor = await system.fixture.createTeam({ cents: 100 });
  });
  const tooDear = (required_cents: number) => ({
    status: 402,
    body: { error: 'Insufficient wallet balance', required_cents, balance_cents: 100 },
  });

  test.each([
    ['9.03s.mp4', 200],
    ['12s.mov', 240],
    ['12s.webm', 240],
    ['12s.avi', 240],
    ['300.0s.mp4', 6_000],
    ['12s-says-1s.mov', 240],
  ])('of %s is %i cents, from a server with ranges, without them, and by upload', async (name, cents) => {
    const answers = [
      await system.postJson(second, system.urls(name), { team: poor }),
      await system.postJson(
        second,
        { ...system.urls(name), video_url: system.sources.url(name, 'plain') },
        { team: poor },
      ),
      await system.postForm(
        second,
        formOf([await system.fileOf(name, 'video'), await system.fileOf('face.jpg', 'face_image')]),
        {
          team: poor,
        },
      ),
    ];
    for (const answer of answers) expect(answer).toMatchObject(tooDear(cents));
  });

  test.skipIf(!existsSync(media)).each([
    ['talk_host_outdoor_720p.mp4', 'face_astronaut.png', 200],
    ['multi_googlework_short.mp4', 'face_man_smile.jpg', 700],
    ['talk_grid_man_glasses.mp4', 'face_webp_grimace_glasses.webp', 120],
  ])('of %s with %s is %i cents', async (video, face, cents) => {
    const content = (name: string) => readFile(join(media, name));
    const form = formOf([
      file('video', await content(`video/${video}`)),
      file('face_image', await content(`faces/${face}`)),
    ]);
    expect(await system.postForm(second, form, { team: poor })).toMatchObject(tooDear(cents));
  });

  test('is asked of the ledger where swaps are made, with the same answer', async () => {
    const answer = await system.postJson(first, system.urls('9.03s.mp4'), { team: poor });
    expect(answer).toMatchObject(tooDear(200));
    expect(Object.keys(answer.body)).toEqual(['error', 'required_cents', 'balance_cents']);
  });

  test('of 300 s is still one, of 300.1 s there is none: the answer names the length and the limit', async () => {
    expect(await system.postJson(second, system.urls('300.0s.mp4'))).toMatchObject({ status: 202 });
    for (const name of ['300.1s.mp4', '300.1s-says-1s.mp4']) {
      const refusals = [
        await system.postJson(second, system.urls(name)),
        await system.postJson(first, { ...system.urls(name), video_url: system.sources.url(name, 'plain') }),
      ];
      for (const answer of refusals)
        expect(answer).toMatchObject({
          status: 400,
          body: { error: 'The video is 300.1 s long; a face swap takes at most 300 s.' },
        });
      const upload = formOf([
        await system.fileOf(name, 'video'),
        await system.fileOf('face.jpg', 'face_image'),
      ]);
      expect(await system.postForm(first, upload)).toMatchObject({
        status: 400,
        body: { details: [{ path: 'video' }] },
      });
    }
  });

  test('nothing of it was charged, and no upload stayed', async () => {
    expect(await system.debitsOf(poor)).toEqual([]);
    const { rows } = await system.fixture.pool.query('SELECT job_id FROM read_model.jobs');
    const paid = new Set(rows.map(({ job_id }) => job_id));
    const left = (await system.uploadsOf()).filter((key) => !paid.has(key.split('/')[1]));
    expect(left).toEqual([]);
  });
});

describe('the Idempotency-Key', () => {
  const keyed = (key: string = randomUUID()) => ({ 'idempotency-key': key });

  test('gives the first answer again, also once the video is gone and the money spent', async () => {
    const team = await system.fixture.createTeam({ cents: 400 });
    await copyFile(system.sources.path('9.03s.mp4'), system.sources.path('passing.mp4'));
    const headers = keyed();
    const created = await system.postJson(first, system.urls('passing.mp4'), { team, headers });
    expect(created.status).toBe(202);
    await rename(system.sources.path('passing.mp4'), system.sources.path('passed.mp4'));
    const again = await system.postJson(
      first,
      { ...system.urls('passing.mp4'), mode: 'fullbody' },
      { team, headers },
    );
    expect(again).toMatchObject({ status: 202, body: created.body });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.headers.get('location')).toBe(created.headers.get('location'));
    expect(await system.debitsOf(team)).toEqual([-200]);
    const other = await system.postJson(
      first,
      { ...system.urls('passing.mp4'), mode: 'face' },
      { team, headers },
    );
    expect(other).toMatchObject({ status: 422, body: { error: expect.stringContaining('Idempotency-Key') } });
  });

  test('counts files by their content, and keeps those of the first request only', async () => {
    const team = await system.fixture.createTeam();
    const headers = keyed();
    const form = async (video: string) =>
      formOf([await system.fileOf(video, 'video'), await system.fileOf('face.jpg', 'face_image')]);
    const created = await system.postForm(first, await form('9.03s.mp4'), { team, headers });
    const before = await system.uploadsOf();
    const again = await system.postForm(first, await form('9.03s.mp4'), { team, headers });
    expect(again).toMatchObject({ status: 202, body: created.body });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await system.postForm(first, await form('12s.mov'), { team, headers })).toMatchObject({
      status: 422,
    });
    expect(await system.uploadsOf()).toEqual(before);
    expect(await system.uploadsOf(created.body['job_id'])).toHaveLength(2);
    expect(await system.debitsOf(team)).toEqual([-200]);
  });

  test('charges once when many arrive at the same moment, and belongs to one kind of request', async () => {
    const team = await system.fixture.createTeam();
    const headers = keyed();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => system.postJson(first, system.urls('9.03s.mp4'), { team, headers })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ body }) => body['job_id'])).size).toBe(1);
    expect(await system.debitsOf(team)).toEqual([-200]);
    const clip = { key: team.key, body: { video_url: system.sources.url('9.03s.mp4') }, headers };
    expect(await first.request('POST', '/v1/clip', clip)).toMatchObject({ status: 422 });
    expect(await system.debitsOf(team)).toEqual([-200]);
  });

  test.each(['', 'x'.repeat(256)])('must have 1 to 255 printable characters (%j)', async (key) => {
    const headers = keyed(key);
    for (const answer of [
      await system.postJson(second, system.urls('9.03s.mp4'), { headers }),
      await system.postForm(second, formOf([text('mode', 'face')]), { headers }),
    ])
      expect(answer).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('Idempotency-Key') },
      });
  });
});

test('a client that leaves takes its look at the video with it', async () => {
  const team = await system.fixture.createTeam();
  const before = system.sources.requests();
  const gone = new AbortController();
  const silent = { ...system.urls('9.03s.mp4'), video_url: system.silentUrl };
  // As many as one team may have at once: the next one's turn comes when these end.
  const left = Array.from({ length: 4 }, () =>
    fetch(`${first.url}/v1/face-swap`, {
      method: 'POST',
      headers: { 'x-api-key': team.key, 'content-type': 'application/json' },
      body: JSON.stringify(silent),
      signal: gone.signal,
    }).catch(() => undefined),
  );
  await until('all four to be looked at', async () => system.sources.requests() >= before + 8);
  gone.abort();
  await Promise.all(left);
  expect(await system.postJson(first, system.urls('9.03s.mp4'), { team })).toMatchObject({ status: 202 });
  expect(await system.debitsOf(team)).toEqual([-200]);
});
