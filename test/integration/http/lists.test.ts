import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { cursorAfter } from '#api/http/cursor.ts';
import { jobListBody } from '#api/http/list-jobs.ts';
import { transactionListBody } from '#api/http/list-transactions.ts';
import { type Appender, openAppender } from '#infra/kafka/appender.ts';
import type { JobRequested } from '#schemas/records.ts';
import { ApiFixture, type ApiInstance, type Team, until } from '../api-fixture.ts';
import { clipCompleted, clipFailed, clipOf, orderClips, type PaidClip } from '../clip-jobs.ts';
import { requestedJob, requestJobs } from '../workers/job-log.ts';

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

type JobList = z.output<typeof jobListBody>;
type TransactionList = z.output<typeof transactionListBody>;

async function jobs(team: Team, query = '', api = second): Promise<JobList> {
  const { status, body } = await api.request('GET', `/v1/jobs${query}`, { key: team.key });
  expect(status).toBe(200);
  return jobListBody.parse(body);
}

async function transactions(team: Team, query = '', api = second): Promise<TransactionList> {
  const { status, body } = await api.request('GET', `/v1/wallet/transactions${query}`, { key: team.key });
  expect(status).toBe(200);
  return transactionListBody.parse(body);
}

const createClips = (team: Team, count: number, api = first) => orderClips(api, team, count);

/** Jobs as the ledger requests them, at times of the test's choosing. */
const request = (wanted: readonly JobRequested[]) => requestJobs(appender, wanted);

const jobAt = (team: Team, occurredAtMs: number, more: Partial<JobRequested> = {}): JobRequested => ({
  ...requestedJob({ teamId: team.teamId, deadlineInMs: 3_600_000 }),
  first_clip_id: nextClipId++,
  occurred_at: occurredAtMs,
  ...more,
});
let nextClipId = 1_000_000;

const swapAt = (team: Team, occurredAtMs: number): JobRequested =>
  jobAt(team, occurredAtMs, {
    kind: 'face_swap',
    first_clip_id: null,
    item_cents: 240,
    clip: null,
    face_swap: {
      video_url: 'https://example.com/video.mp4',
      video_object_key: null,
      face_image_url: 'https://example.com/face.png',
      face_image_object_key: null,
      mode: 'face',
      duration_seconds: 12,
    },
  });

const clipOfJob = (job: JobRequested, item = 0): PaidClip => ({
  ...{ job_id: job.job_id, team_id: job.team_id, debit_id: job.debit_id, item },
  occurred_at: job.occurred_at + 1,
  clip_id: (job.first_clip_id ?? 0) + item,
});

const completed = (job: JobRequested) => clipCompleted(clipOfJob(job));

/** All pages from the first to the last, with `between` called after each. */
async function walk<Body extends { readonly next_cursor: string | null }>(
  page: (query: string) => Promise<Body>,
  query: string,
  between: () => Promise<void> = async () => {},
): Promise<readonly Body[]> {
  const pages: Body[] = [];
  for (let cursor = ''; ; ) {
    const body = await page(`?${query}${cursor}`);
    pages.push(body);
    if (body.next_cursor === null) return pages;
    await between();
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
}

describe('GET /v1/jobs', () => {
  test('of a team without jobs is empty', async () => {
    const team = await fixture.createTeam();
    expect(await jobs(team)).toEqual({ jobs: [], next_cursor: null });
  });

  test('shows jobs that were created through another instance a moment ago, the newest first', async () => {
    const team = await fixture.createTeam();
    for (let round = 0; round < 5; round += 1) {
      const jobId = await createClips(team, 2);
      const [newest] = (await jobs(team)).jobs;
      expect(newest).toEqual({
        job_id: jobId,
        kind: 'clip',
        status: 'processing',
        cost_cents: 300,
        num_clips: 2,
        progress: { completed: 0, total: 2 },
        created_at: expect.any(String),
        finished_at: null,
      });
    }
  });

  test("never shows another team's, whatever the cursor", async () => {
    const [mine, other] = [await fixture.createTeam(), await fixture.createTeam()];
    const own = await createClips(mine, 1);
    await createClips(other, 1);
    await createClips(other, 1);
    expect((await jobs(mine)).jobs.map(({ job_id }) => job_id)).toEqual([own]);
    const { next_cursor: cursor } = await jobs(other, '?limit=1');
    expect((await jobs(mine, `?cursor=${cursor}`)).jobs.map(({ job_id }) => job_id)).toEqual([own]);
  });

  test('pages through ties of one millisecond without a repetition or a gap, while new jobs come', async () => {
    const team = await fixture.createTeam();
    const atMs = Date.now() - 60_000;
    const old = [
      ...Array.from({ length: 25 }, () => jobAt(team, atMs)),
      ...Array.from({ length: 5 }, () => jobAt(team, atMs + 1)),
    ];
    await request(old);
    const pages = await walk(
      (query) => jobs(team, query),
      'limit=7',
      () => request([jobAt(team, Date.now())]),
    );
    expect(pages.map((page) => page.jobs.length)).toEqual([7, 7, 7, 7, 2]);
    const seen = pages.flatMap((page) => page.jobs);
    expect(seen.map(({ job_id }) => job_id).sort()).toEqual(old.map(({ job_id }) => job_id).sort());
    const times = seen.map(({ created_at }) => created_at);
    expect(times).toEqual([...times].sort().reverse());
  });

  test('filters by kind and status, and pages within what it filters', async () => {
    const team = await fixture.createTeam();
    const atMs = Date.now() - 60_000;
    const clips = Array.from({ length: 6 }, (_, index) => jobAt(team, atMs + index));
    const swaps = Array.from({ length: 3 }, (_, index) => swapAt(team, atMs + index));
    await request([...clips, ...swaps]);
    const finished = clips.slice(0, 4);
    await appender.append(finished.map(completed));
    const ids = (list: readonly { readonly job_id: string }[]) => list.map(({ job_id }) => job_id);
    const found = async (query: string) => {
      const pages = await walk((page) => jobs(team, page), query);
      return pages.flatMap((page) => page.jobs);
    };
    expect(ids(await found('kind=clip&limit=4'))).toEqual(ids(clips.toReversed()));
    expect(ids(await found('kind=face_swap&limit=2'))).toEqual(ids(swaps.toReversed()));
    expect(ids(await found('status=completed&limit=3'))).toEqual(ids(finished.toReversed()));
    expect(ids(await found('status=processing&kind=clip&limit=1'))).toEqual(ids(clips.slice(4).toReversed()));
    expect(await found('status=failed')).toEqual([]);
    const [newestFinished] = await found('status=completed&limit=3');
    expect(newestFinished).toMatchObject({ finished_at: expect.any(String), num_clips: 1 });
    expect(newestFinished).not.toHaveProperty('progress');
    expect((await found('kind=face_swap'))[0]).not.toHaveProperty('num_clips');
  });

  test('gives 20 unless told otherwise, and at most 100', async () => {
    const team = await fixture.createTeam();
    await request(Array.from({ length: 101 }, (_, index) => jobAt(team, Date.now() - index)));
    expect((await jobs(team)).jobs).toHaveLength(20);
    const most = await jobs(team, '?limit=100');
    expect([most.jobs.length, most.next_cursor]).toEqual([100, expect.any(String)]);
  });
});

describe('GET /v1/wallet/transactions', () => {
  test('shows every cent: the amounts add up to the balance, each with the balance after it', async () => {
    const team = await fixture.createTeam({ cents: 2_000 });
    const jobId = await createClips(team, 2);
    const clip = await clipOf(fixture.pool, jobId, 0);
    await appender.append([clipFailed(clip, 'No speech was found.')]);
    await until('the refund', async () =>
      (await transactions(team)).transactions.some(({ type }) => type === 'WalletRefunded'),
    );
    const { transactions: all, next_cursor } = await transactions(team);
    expect(next_cursor).toBeNull();
    expect(all.map(({ seq }) => seq)).toEqual([5, 4, 3, 2, 1]);
    expect(all.map(({ type, amount_cents, balance_cents }) => [type, amount_cents, balance_cents])).toEqual([
      ['WalletRefunded', 150, 1_850],
      ['WalletDebited', -300, 1_700],
      ['WalletToppedUp', 2_000, 2_000],
      ['BillingActivated', 0, 0],
      ['WalletOpened', 0, 0],
    ]);
    const [refund, debit, topUp] = all;
    expect(refund).toMatchObject({
      job_id: jobId,
      clip_id: clip.clip_id,
      debit_id: debit?.event_id,
      reason: 'No speech was found.',
    });
    expect(debit).toMatchObject({ job_id: jobId, clip_id: null, debit_id: debit?.event_id });
    expect(topUp?.reference).toEqual(expect.any(String));
    const wallet = await second.request('GET', '/v1/wallet', { key: team.key });
    const sum = all.reduce((cents, { amount_cents }) => cents + amount_cents, 0);
    expect(sum).toBe(wallet.body['balance_cents']);
  });

  test('shows a charge through another instance as soon as it was answered', async () => {
    const team = await fixture.createTeam();
    for (let round = 0; round < 5; round += 1) {
      const jobId = await createClips(team, 1);
      const [newest] = (await transactions(team, '?limit=1')).transactions;
      expect(newest).toMatchObject({ job_id: jobId, type: 'WalletDebited', clip_id: expect.any(Number) });
    }
  });

  test('pages by seq without a repetition or a gap, while money moves, and for its own team only', async () => {
    const [team, other] = [await fixture.createTeam(), await fixture.createTeam()];
    for (let round = 0; round < 9; round += 1) await fixture.topUp(team.teamId, 500);
    const pages = await walk(
      (query) => transactions(team, query),
      'limit=5',
      () => fixture.topUp(team.teamId, 500),
    );
    expect(pages.flatMap((page) => page.transactions.map(({ seq }) => seq))).toEqual([
      12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
    ]);
    const cursor = pages[0]?.next_cursor ?? '';
    const others = await transactions(other, `?cursor=${cursor}`);
    expect(others.transactions.map(({ seq }) => seq)).toEqual([3, 2, 1]);
  });
});

describe('a query that is not right is refused with a sentence that says why', () => {
  let queryTeam: Team;
  beforeAll(async () => {
    queryTeam = await fixture.createTeam();
  });
  const jobsCursor = cursorAfter('jobs', [0, randomUUID()]);
  const transactionsCursor = cursorAfter('transactions', [1]);
  const limitRule = 'limit must be an integer from 1 to 100.';
  const cursorRule = 'cursor must be the next_cursor of the page before, unchanged.';
  test.each([
    ['/v1/jobs?limit=0', limitRule],
    ['/v1/jobs?limit=101', limitRule],
    ['/v1/jobs?limit=1e1', limitRule],
    ['/v1/jobs?limit=%201', limitRule],
    ['/v1/jobs?limit=', limitRule],
    ['/v1/jobs?limit=5&limit=5', 'limit is given more than once; give it once.'],
    ['/v1/jobs?kind=swap', 'kind must be one of clip, face_swap.'],
    ['/v1/jobs?kind=', 'kind must be one of clip, face_swap.'],
    ['/v1/jobs?status=done', 'status must be one of processing, completed, failed.'],
    ['/v1/jobs?status=failed&status=failed', 'status is given more than once; give it once.'],
    ['/v1/jobs?page=2', 'page is not known; the query parameters here are kind, status, cursor, limit.'],
    ['/v1/jobs?cursor=', cursorRule],
    ['/v1/jobs?cursor=abc', cursorRule],
    ['/v1/jobs?cursor=%00', cursorRule],
    [`/v1/jobs?cursor=${jobsCursor}A`, cursorRule],
    [`/v1/jobs?cursor=${transactionsCursor}`, cursorRule],
    [`/v1/jobs?cursor=${cursorAfter('jobs', [1e300, randomUUID()])}`, cursorRule],
    [`/v1/jobs?cursor=${cursorAfter('jobs', [0, 'x'])}`, cursorRule],
    [`/v1/wallet/transactions?cursor=${jobsCursor}`, cursorRule],
    [`/v1/wallet/transactions?cursor=${cursorAfter('transactions', [-1])}`, cursorRule],
    ['/v1/wallet/transactions?limit=1000', limitRule],
    ['/v1/wallet/transactions?kind=clip', 'kind is not known; the query parameters here are cursor, limit.'],
    [
      '/v1/wallet/transactions?__proto__=1',
      '__proto__ is not known; the query parameters here are cursor, limit.',
    ],
  ])('%s', async (path, error) => {
    expect(await second.request('GET', path, { key: queryTeam.key })).toMatchObject({
      status: 400,
      body: { error, details: [{ message: error }] },
    });
  });
});
