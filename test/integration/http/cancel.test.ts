import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cancelJob } from '#api/cancel-job.ts';
import { cancelledClipJobBody, cancelledFaceSwapBody } from '#api/http/cancel-job.ts';
import { logFreshness } from '#api/log-freshness.ts';
import { type Appender, openAppender } from '#infra/kafka/appender.ts';
import { endOffsets } from '#infra/kafka/log-reader.ts';
import { partitionOf } from '#infra/kafka/partitioner.ts';
import { encodeRecord } from '#schemas/codec.ts';
import { ApiFixture, type ApiInstance, type Team, until } from '../api-fixture.ts';
import { audit } from '../audit/running-audit.ts';
import { clipCompleted, clipOf, orderClips } from '../clip-jobs.ts';
import { recordsIn } from '../workers/job-log.ts';

/** Without workers: nothing of a job runs, and the tests write what workers would. */

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

const createClips = (team: Team, count: number) => orderClips(first, team, count);

/** A paid face swap; its create may still be refused for want of workers. */
async function requestSwap(team: Team, cents: number): Promise<string> {
  const jobId = randomUUID();
  const value = {
    ...fixture.envelope(team.teamId),
    job_id: jobId,
    kind: 'face_swap',
    item_count: 1,
    item_cents: cents,
    request_hash: '0'.repeat(64),
    job_deadline_at: Date.now() + 3_600_000,
    clip: null,
    face_swap: {
      video_url: 'https://example.com/video.mp4',
      video_object_key: null,
      face_image_url: 'https://example.com/face.png',
      face_image_object_key: null,
      mode: 'face',
      duration_seconds: cents / 20,
    },
    callback_url: null,
  };
  await fixture.submit({ name: 'RequestJob', value });
  return jobId;
}

/** As a client does it: while the refunds of a busy service are not there yet, the same request again. */
async function cancel(team: Team, jobId: string, { kind = 'clip', api = first } = {}) {
  for (;;) {
    const answer = await api.request('DELETE', `/v1/${kind}/${jobId}`, { key: team.key });
    if (answer.status !== 202 && answer.status !== 503) return answer;
    expect(answer.headers.get('retry-after')).not.toBeNull();
  }
}
const read = async (team: Team, jobId: string, kind = 'clip') =>
  (await second.request('GET', `/v1/${kind}/${jobId}`, { key: team.key })).body;
const balanceOf = async (team: Team) =>
  (await second.request('GET', '/v1/wallet', { key: team.key })).body['balance_cents'];

async function refundsOf(jobId: string): Promise<readonly number[]> {
  const { rows } = await fixture.pool.query<{ item: number }>(
    `SELECT item FROM read_model.wallet_transactions WHERE job_id = $1 AND type = 'WalletRefunded' ORDER BY item`,
    [jobId],
  );
  return rows.map(({ item }) => item);
}

/** Finishes one clip of a job as a worker would. */
const complete = async (jobId: string, item: number) =>
  appender.append([clipCompleted(await clipOf(fixture.pool, jobId, item))]);

describe('DELETE /v1/clip/{jobId}', () => {
  test('of a job that has not started gives all of it back, and says so', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const jobId = await createClips(team, 3);
    expect(await balanceOf(team)).toBe(550);
    const answer = await cancel(team, jobId.toUpperCase());
    expect(answer).toMatchObject({
      status: 200,
      body: { job_id: jobId, status: 'completed', cancelled_clips: 3, refunded_cents: 450 },
    });
    cancelledClipJobBody.strict().parse(answer.body);
    expect(await balanceOf(team)).toBe(1_000);
    const job = await read(team, jobId);
    expect(job).toMatchObject({ job_id: jobId, status: 'completed' });
    expect(job['clips']).toEqual(
      Array(3).fill({
        clip_id: expect.any(Number),
        status: 'failed',
        error: 'The job was cancelled.',
        created_at: expect.any(String),
      }),
    );
    expect(await refundsOf(jobId)).toEqual([0, 1, 2]);
  });

  test('of a job that is partly finished keeps what is finished and gives the rest back', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const jobId = await createClips(team, 3);
    await complete(jobId, 1);
    expect(await cancel(team, jobId)).toMatchObject({
      status: 200,
      body: { cancelled_clips: 2, refunded_cents: 300 },
    });
    expect(await balanceOf(team)).toBe(850);
    const { clips } = await read(team, jobId);
    expect(clips).toMatchObject([
      { status: 'failed', error: 'The job was cancelled.' },
      { status: 'completed', download_url: expect.stringContaining(jobId) },
      { status: 'failed', error: 'The job was cancelled.' },
    ]);
    expect(await refundsOf(jobId)).toEqual([0, 2]);
  });

  test('of a job that finished by itself is a conflict and changes nothing', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const jobId = await createClips(team, 1);
    await complete(jobId, 0);
    for (let round = 0; round < 2; round += 1)
      expect(await cancel(team, jobId)).toMatchObject({
        status: 409,
        body: { error: 'The job is finished already, so there is nothing left to cancel.' },
      });
    expect(await balanceOf(team)).toBe(850);
    expect(await read(team, jobId)).toMatchObject({ clips: [{ status: 'completed' }] });
  });

  test('answers the same when it is repeated, through any instance and also after new charges', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const jobId = await createClips(team, 2);
    const answer = await cancel(team, jobId);
    expect(answer.status).toBe(200);
    await createClips(team, 1);
    for (const api of [first, second]) {
      const again = await cancel(team, jobId, { api });
      expect([again.status, again.body]).toEqual([200, answer.body]);
    }
    expect(await refundsOf(jobId)).toEqual([0, 1]);
    expect(await balanceOf(team)).toBe(850);
  });

  test('holds once when both instances get it at the same moment', async () => {
    const team = await fixture.createTeam({ cents: 10_000 });
    for (let round = 0; round < 5; round += 1) {
      const jobId = await createClips(team, 3);
      const answers = await Promise.all(
        [first, second, first, second].map((api) => cancel(team, jobId, { api })),
      );
      for (const { status, body } of answers) {
        expect(status).toBe(200);
        expect(body).toEqual({
          job_id: jobId,
          status: 'completed',
          cancelled_clips: 3,
          refunded_cents: 450,
        });
      }
      expect(await refundsOf(jobId)).toEqual([0, 1, 2]);
    }
    expect(await balanceOf(team)).toBe(10_000);
  });

  test('refunds also where clips that fail by themselves are paid for', async () => {
    const strict = await ApiFixture.open({ REFUND_FAILED_CLIPS: 'off' });
    try {
      const api = await strict.startApi();
      const team = await strict.createTeam({ cents: 1_000 });
      const jobId = await orderClips(api, team, 2);
      const answer = await api.request('DELETE', `/v1/clip/${jobId}`, { key: team.key });
      expect(answer).toMatchObject({ status: 200, body: { cancelled_clips: 2, refunded_cents: 300 } });
    } finally {
      await strict.close();
    }
  });
});

describe('DELETE /v1/face-swap/{jobId}', () => {
  test('gives the whole charge back, and the job is failed', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const jobId = await requestSwap(team, 240);
    expect(await balanceOf(team)).toBe(760);
    const answer = await cancel(team, jobId, { kind: 'face-swap' });
    expect([answer.status, answer.body]).toEqual([
      200,
      { job_id: jobId, status: 'failed', refunded_cents: 240 },
    ]);
    cancelledFaceSwapBody.strict().parse(answer.body);
    expect(await balanceOf(team)).toBe(1_000);
    expect(await read(team, jobId, 'face-swap')).toMatchObject({
      status: 'failed',
      error: 'The job was cancelled.',
    });
    const again = await cancel(team, jobId, { kind: 'face-swap', api: second });
    expect([again.status, again.body]).toEqual([200, answer.body]);
  });

  test('of a swap that failed by itself is a conflict', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const jobId = await requestSwap(team, 240);
    const [job] = (
      await fixture.pool.query('SELECT debit_id FROM read_model.jobs WHERE job_id = $1', [jobId])
    ).rows;
    const value = encodeRecord('SwapFailed', {
      event_id: randomUUID(),
      job_id: jobId,
      team_id: team.teamId,
      debit_id: job.debit_id,
      occurred_at: Date.now(),
      code: 'NO_FACE',
      error: 'There is no face in the video.',
    });
    await appender.append([{ topic: 'job.events', key: jobId, value }]);
    expect(await cancel(team, jobId, { kind: 'face-swap' })).toMatchObject({ status: 409 });
    expect(await balanceOf(team)).toBe(1_000);
  });
});

describe('a job that is not there to be cancelled', () => {
  test("is not found: unknown ids, another team's, and a job of the other kind", async () => {
    const [team, other] = [await fixture.createTeam(), await fixture.createTeam()];
    const clipJob = await createClips(team, 1);
    const swap = await requestSwap(team, 240);
    const refused = await Promise.all([
      cancel(team, randomUUID()),
      cancel(team, 'not-a-uuid'),
      cancel(other, clipJob),
      cancel(other, swap, { kind: 'face-swap' }),
      cancel(team, clipJob, { kind: 'face-swap' }),
      cancel(team, swap),
    ]);
    for (const { status, body } of refused) expect([status, body]).toEqual([404, { error: 'Job not found' }]);
    expect(await read(team, clipJob)).toMatchObject({ status: 'processing' });
    expect(await read(team, swap, 'face-swap')).toMatchObject({ status: 'processing' });
  });
});

test('while nobody settles, the cancellation holds and can be asked for again', async () => {
  const alone = await ApiFixture.open({ RATE_LIMIT_PER_MINUTE: '10000' });
  try {
    const api = await alone.startApi();
    const team = await alone.createTeam({ cents: 1_000 });
    const jobId = await orderClips(api, team, 2);
    await api.stop();
    const own = await openAppender(alone.kafka, { log: alone.log });
    const { watch, pool, kafka } = alone;
    const freshness = logFreshness({ endOffsets: (topic) => endOffsets(kafka, topic), partitionOf, watch });
    const parts = { pool, appender: own, freshness, watch, now: () => new Date() };
    const wanted = { jobId, owner: { teamId: team.teamId, kind: 'clip' } } as const;
    expect(await cancelJob(wanted, parts)).toMatchObject({ outcome: 'cancelling' });
    await own.close();
    // Its events are in the log already: whoever settles next gives the money back.
    const late = await alone.startApi();
    await until('the answer', async () => {
      const answer = await late.request('DELETE', `/v1/clip/${jobId}`, { key: team.key });
      if (answer.status === 202) expect(answer.body).toEqual({ job_id: jobId, status: 'cancelling' });
      return answer.status === 200 && answer.body['refunded_cents'] === 300;
    });
    const failures = (await recordsIn(alone.kafka, 'job.events')).filter(({ name }) => name === 'ClipFailed');
    expect(failures).toHaveLength(2);
  } finally {
    await alone.close();
  }
});

test('the ledger is right after all of this', async () => {
  const verified = await audit(fixture.environment, 'verify');
  expect(verified).toMatchObject({ exitCode: 0, error: '' });
});
