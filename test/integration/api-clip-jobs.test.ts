import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clipResponseBody } from '#api/http/clip-request.ts';
import { clipJobBody } from '#api/http/get-clip-job.ts';
import { type Appender, openAppender } from '#infra/kafka/appender.ts';
import { encodeRecord } from '#schemas/codec.ts';
import { ApiFixture, type ApiInstance, type Team, until } from './api-fixture.ts';
import { clipCompleted, clipFailed, clipOf } from './clip-jobs.ts';

let fixture: ApiFixture;
let first: ApiInstance;
let second: ApiInstance;
let appender: Appender;

beforeAll(async () => {
  fixture = await ApiFixture.open({ RATE_LIMIT_PER_MINUTE: '10000' });
  [first, second] = await Promise.all([fixture.startApi(), fixture.startApi()]);
  appender = await openAppender(fixture.kafka, { log: fixture.log });
});
afterAll(async () => {
  await appender?.close();
  await fixture?.close();
});

const source = { video_url: 'https://example.com/video.mp4?token=secret' };

const createClip = (
  api: ApiInstance,
  team: Team,
  body: unknown = source,
  headers: Record<string, string> = {},
) => api.request('POST', '/v1/clip', { key: team.key, body, headers });
const walletOf = async (team: Team, api = second) =>
  (await api.request('GET', '/v1/wallet', { key: team.key })).body as Record<string, number>;
const debitsOf = async (team: Team) => {
  const { rows } = await fixture.pool.query(
    `SELECT amount_cents FROM read_model.wallet_transactions WHERE team_id = $1 AND type = 'WalletDebited'`,
    [team.teamId],
  );
  return rows.map(({ amount_cents }) => amount_cents);
};

/** Ends one clip of a job as a worker would. */
async function endClip(
  jobId: string,
  item: number,
  end: { error: string } | { title: string; heading: string | null },
) {
  const clip = await clipOf(fixture.pool, jobId, item);
  await appender.append(['error' in end ? clipFailed(clip, end.error) : clipCompleted(clip, end)]);
}

describe('creating a clip job', () => {
  test('charges 150 cents a clip and can be read through any instance at once', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const created = await createClip(first, team, { ...source, num_clips: 3 });
    expect(created.status).toBe(200);
    const body = clipResponseBody.strict().parse(created.body);
    expect(body).toMatchObject({ num_clips: 3, cost_cents: 450, status: 'processing' });
    expect(created.headers.get('idempotency-replayed')).toBeNull();
    expect(await walletOf(team)).toEqual({
      balance_cents: 550,
      total_spent_cents: 450,
      total_topped_up_cents: 1_000,
      active: true,
    });
    const job = await second.request('GET', `/v1/clip/${body.job_id.toUpperCase()}`, { key: team.key });
    expect(job).toMatchObject({
      status: 200,
      body: { job_id: body.job_id, status: 'processing', progress: { completed: 0, total: 3 } },
    });
    clipJobBody.parse(job.body);
  });

  test('a wallet below the cost is told what is missing, and keeps its money', async () => {
    const team = await fixture.createTeam({ cents: 500 });
    const refused = await createClip(first, team, { ...source, num_clips: 4 });
    expect(refused).toMatchObject({ status: 402 });
    expect(refused.body).toEqual({
      error: 'Insufficient wallet balance',
      required_cents: 600,
      balance_cents: 500,
    });
    expect(await walletOf(team)).toMatchObject({ balance_cents: 500, total_spent_cents: 0 });
  });

  test('a refused request costs nothing: 400 before 402', async () => {
    const team = await fixture.createTeam({ cents: 500 });
    const tooMuch = { ...source, num_clips: 10 };
    expect(await createClip(first, team, { ...tooMuch, camera_mode: 'facecam', length: 9 })).toMatchObject({
      status: 400,
      body: { error: 'length must be an integer from 10 to 180.', details: [{ path: 'length' }] },
    });
    expect(await createClip(first, team, tooMuch)).toMatchObject({ status: 402 });
    expect(await debitsOf(team)).toEqual([]);
  });

  test('simultaneous requests never spend more than there is', async () => {
    const team = await fixture.createTeam({ cents: 1_500 });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => createClip(index % 2 === 0 ? first : second, team)),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(402)]).toEqual([10, 20]);
    const { rows } = await fixture.pool.query(
      'SELECT balance_cents FROM read_model.wallets WHERE team_id = $1',
      [team.teamId],
    );
    expect(rows).toEqual([{ balance_cents: 0 }]);
    expect(await debitsOf(team)).toHaveLength(10);
  });
});

describe('the Idempotency-Key', () => {
  test('gives the first answer again, also with the fields in another order and the defaults written out', async () => {
    const team = await fixture.createTeam();
    const headers = { 'idempotency-key': 'order 17' };
    const created = await createClip(first, team, { ...source, length: 30 }, headers);
    const again = await createClip(second, team, { length: 30, num_clips: 1, ...source }, headers);
    expect(again.status).toBe(200);
    expect(again.body).toEqual(created.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await debitsOf(team)).toEqual([-150]);
  });

  test('charges once when twenty arrive at the same moment at two instances', async () => {
    const team = await fixture.createTeam();
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        createClip(index % 2 === 0 ? first : second, team, source, headers),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body['job_id'])).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === null)).toHaveLength(1);
    expect(await debitsOf(team)).toEqual([-150]);
  });

  test('lets one of two requests win that arrive under it at the same moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const team = await fixture.createTeam();
      const headers = { 'idempotency-key': 'same' };
      const bodies = [
        { ...source, num_clips: 1 },
        { ...source, num_clips: 2 },
      ];
      const answers = await Promise.all(bodies.map((body) => createClip(first, team, body, headers)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
      const won = answers.findIndex(({ status }) => status === 200);
      expect(answers[won]?.body['num_clips']).toBe(bodies[won]?.num_clips);
      expect(await debitsOf(team)).toEqual([-150 * (won + 1)]);
    }
  });

  test('is refused with another request, belongs to its team, and forgets 402s', async () => {
    const team = await fixture.createTeam({ cents: 500 });
    const other = await fixture.createTeam();
    const headers = { 'idempotency-key': 'k' };
    expect(await createClip(first, team, { ...source, num_clips: 10 }, headers)).toMatchObject({
      status: 402,
    });
    await fixture.topUp(team.teamId, 2_000);
    expect(await createClip(first, team, { ...source, num_clips: 10 }, headers)).toMatchObject({
      status: 200,
    });
    expect(await createClip(second, team, { ...source, num_clips: 9 }, headers)).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('Idempotency-Key') },
    });
    expect(await createClip(second, other, { ...source, num_clips: 9 }, headers)).toMatchObject({
      status: 200,
    });
    expect(await debitsOf(team)).toEqual([-1_500]);
  });

  test.each(['', ' ', 'x'.repeat(256)])('must have 1 to 255 printable characters (%j)', async (key) => {
    const team = await fixture.createTeam();
    const answer = await createClip(first, team, source, { 'idempotency-key': key });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('Idempotency-Key') },
    });
    expect(await debitsOf(team)).toEqual([]);
  });
});

describe('what cannot be read', () => {
  let team: Team;
  beforeAll(async () => {
    team = await fixture.createTeam();
  });
  const post = (raw: string, contentType: string | undefined) =>
    first.request('POST', '/v1/clip', {
      key: team.key,
      raw,
      headers: contentType === undefined ? {} : { 'content-type': contentType },
    });

  test.each([
    ['broken JSON', '{"video_url":', 'application/json', 400],
    [
      'a poisoned prototype',
      '{"__proto__": {"x": 1}, "video_url": "https://example.com"}',
      'application/json',
      400,
    ],
    ['an empty body', '', 'application/json', 400],
    ['JSON with a charset', JSON.stringify({ num_clips: 0 }), 'application/json; charset=utf-8', 400],
    ['a list', '[]', 'application/json', 400],
    ['text', 'hello', 'text/plain', 415],
    ['a form', 'video_url=x', 'application/x-www-form-urlencoded', 415],
    ['XML', '<a/>', 'application/xml', 415],
    ['too much', JSON.stringify({ prompt: 'x'.repeat(300_000) }), 'application/json', 413],
    ['a broken form', '--x\r\n\r\n--x--', 'multipart/form-data; boundary=x', 400],
  ])('%s', async (_what, raw, contentType, status) => {
    const answer = await post(raw, contentType);
    expect(answer).toMatchObject({ status, body: { error: expect.stringMatching(/\w.*\.$/s) } });
    expect(answer.headers.get('ratelimit-remaining')).not.toBeNull();
  });

  test('nothing of it was charged', async () => expect(await debitsOf(team)).toEqual([]));
});

describe('routes', () => {
  test.each([
    ['GET', '/v1/nothing', 404, null],
    ['POST', '/v1/nothing', 404, null],
    ['GET', '/v1/', 404, null],
    ['GET', '/v1/test/', 404, null],
    ['GET', '/v1/%zz', 404, null],
    ['GET', '/v1/clip/%2e%2e', 404, null],
    ['GET', '/v1/clip', 405, 'POST'],
    ['DELETE', '/v1/wallet', 405, 'GET, HEAD'],
    ['POST', '/v1/clip/x', 405, 'DELETE, GET, HEAD'],
    ['PUT', '/v1/keys', 405, 'GET, HEAD, POST'],
    ['POST', '/v1/face-swap', 400, null],
  ])('%s %s is answered with %s', async (method, path, status, allow) => {
    const team = await fixture.createTeam();
    const answer = await first.request(method, path, { key: team.key });
    expect(answer).toMatchObject({ status, body: { error: expect.any(String) } });
    expect(answer.headers.get('allow')).toBe(allow);
  });

  test('outside of /v1 nothing asks for a key', async () => {
    expect(await first.request('GET', '/nothing')).toMatchObject({
      status: 404,
      body: { error: expect.any(String) },
    });
    expect((await first.request('POST', '/health/live', { raw: 'x' })).status).toBe(405);
  });
});

describe('reading a clip job', () => {
  test.each(['none', randomUUID(), '1', '%00', 'x'.repeat(2_000)])(
    'an unknown id is a 404 (%s)',
    async (id) => {
      const team = await fixture.createTeam();
      const answer = await first.request('GET', `/v1/clip/${id}`, { key: team.key });
      expect(answer).toMatchObject({ status: 404, body: { error: 'Job not found' } });
    },
  );

  test("another team's job is a 404", async () => {
    const team = await fixture.createTeam();
    const other = await fixture.createTeam();
    const { body } = await createClip(first, team);
    const answer = await second.request('GET', `/v1/clip/${body['job_id']}`, { key: other.key });
    expect(answer).toMatchObject({ status: 404, body: { error: 'Job not found' } });
  });

  test('finished clips count while others are made; then every clip is shown, and failed ones are given back', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const { body } = await createClip(first, team, { ...source, num_clips: 3 });
    const jobId = String(body['job_id']);
    const read = async () => (await second.request('GET', `/v1/clip/${jobId}`, { key: team.key })).body;
    await endClip(jobId, 2, { title: 'The second', heading: null });
    await until('one finished clip', async () => {
      const { progress } = (await read()) as { progress?: { completed: number } };
      return progress?.completed === 1;
    });
    await endClip(jobId, 0, { title: 'The first', heading: 'The first' });
    await endClip(jobId, 1, { error: 'There is no speech in it.' });
    await until('the job to end', async () => (await read())['status'] === 'completed');
    const job = clipJobBody.parse(await read());
    if (job.status !== 'completed') throw new Error('The job is not completed.');
    expect(job.clips).toMatchObject([
      {
        status: 'completed',
        title: 'The first',
        heading: 'The first',
        download_url: expect.stringContaining('604800'),
      },
      { status: 'failed', error: 'There is no speech in it.' },
      { status: 'completed', title: 'The second' },
    ]);
    expect(job.clips[1]).not.toHaveProperty('download_url');
    expect(job.clips[2]).not.toHaveProperty('heading');
    expect(new Set(job.clips.map(({ clip_id }) => clip_id)).size).toBe(3);
    // The refund is there as soon as the job is shown as completed.
    expect(await walletOf(team)).toMatchObject({ balance_cents: 700, total_spent_cents: 300 });
  });

  test('the first end of a clip counts: a failure after it gives nothing back', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const { body } = await createClip(first, team, { ...source, num_clips: 2 });
    const jobId = String(body['job_id']);
    await endClip(jobId, 0, { title: 'Done', heading: null });
    await endClip(jobId, 0, { error: 'Too late.' });
    await endClip(jobId, 1, { error: 'Broken.' });
    await endClip(jobId, 1, { error: 'Broken again.' });
    await until('the job to end', async () => {
      const answer = await first.request('GET', `/v1/clip/${jobId}`, { key: team.key });
      return answer.body['status'] === 'completed';
    });
    const { rows } = await fixture.pool.query(
      `SELECT type, item FROM read_model.wallet_transactions WHERE job_id = $1 AND item IS NOT NULL ORDER BY item`,
      [jobId],
    );
    expect(rows).toEqual([
      { type: 'ChargeCaptured', item: 0 },
      { type: 'WalletRefunded', item: 1 },
    ]);
    expect(await walletOf(team)).toMatchObject({ balance_cents: 850 });
  });
});

test('a job past its deadline fails and is refunded without any worker', async () => {
  const team = await fixture.createTeam({ cents: 1_000 });
  const hasty = await fixture.startApi({ JOB_DEADLINE: '1s' });
  const { body } = await createClip(hasty, team, { ...source, num_clips: 2 });
  await until('the job to be given up', async () => {
    const answer = await first.request('GET', `/v1/clip/${body['job_id']}`, { key: team.key });
    return answer.body['status'] === 'completed';
  });
  const job = await first.request('GET', `/v1/clip/${body['job_id']}`, { key: team.key });
  expect(job.body).toMatchObject({
    clips: [{ status: 'failed', error: expect.stringContaining('time limit') }, {}],
  });
  expect(await walletOf(team)).toMatchObject({ balance_cents: 1_000, total_spent_cents: 0 });
  await hasty.stop();
});

test('REFUND_FAILED_CLIPS=off keeps the money of failed clips', async () => {
  const strict = await ApiFixture.open({ REFUND_FAILED_CLIPS: 'off', JOB_DEADLINE: '1s' });
  try {
    const api = await strict.startApi();
    const team = await strict.createTeam({ cents: 1_000 });
    const { body } = await createClip(api, team);
    await until('the job to be given up', async () => {
      const answer = await api.request('GET', `/v1/clip/${body['job_id']}`, { key: team.key });
      return answer.body['status'] === 'completed';
    });
    expect(await walletOf(team, api)).toMatchObject({ balance_cents: 850, total_spent_cents: 150 });
  } finally {
    await strict.close();
  }
});

test('a stage that no worker has spoken of lately is not shown', async () => {
  const team = await fixture.createTeam();
  const jobId = String((await createClip(first, team)).body['job_id']);
  const stageOf = async () =>
    (await second.request('GET', `/v1/clip/${jobId}`, { key: team.key })).body['stage'];
  const say = async (stage: string, agoMs: number) => {
    const occurred_at = Date.now() - agoMs;
    const value = { job_id: jobId, team_id: team.teamId, occurred_at, stage, fraction: 0.5 };
    const positions = await appender.append([
      { topic: 'job.progress', key: jobId, value: encodeRecord('JobProgressed', value) },
    ]);
    await fixture.watch.waitFor(positions, 10_000);
  };
  expect(await stageOf()).toBeUndefined();
  await say('fetch', 1_000);
  expect(await stageOf()).toBe('fetch');
  await say('render', 120_000);
  expect(await stageOf()).toBeUndefined();
});
