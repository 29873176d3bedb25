import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forbiddenAuthorities } from '#test/unit/egress/forbidden-targets.ts';
import { type ApiAnswer, ApiFixture, type ApiInstance, type Team, until } from '../api-fixture.ts';
import { formOf, text } from '../http/form.ts';
import { openSwapSources, type SwapSources } from '../http/swap-sources.ts';
import { PaidJobs } from './paid-jobs.ts';
import { Receiver } from './receiver.ts';

const source = { video_url: 'https://example.com/talk.mp4' };

let receiver: Receiver;
let fixture: ApiFixture;
let api: ApiInstance;
let withoutKey: ApiInstance;
let jobs: PaidJobs;
let sources: SwapSources;
let team: Team;

beforeAll(async () => {
  receiver = await Receiver.start();
  sources = await openSwapSources();
  fixture = await ApiFixture.open({
    RATE_LIMIT_PER_MINUTE: '10000',
    EGRESS_ALLOW: `${receiver.authority},${sources.host}`,
  });
  [api, withoutKey] = await Promise.all([
    fixture.startApi({ WEBHOOK_MASTER_KEY: 'ab'.repeat(32) }),
    fixture.startApi(),
  ]);
  jobs = await PaidJobs.open(fixture);
  team = await fixture.createTeam({ cents: 10_000 });
});
afterAll(async () => {
  await jobs?.close();
  await fixture?.close();
  await receiver?.close();
  await sources?.close();
});

type Fields = Readonly<Record<string, string>>;

/** `POST /v1/clip` in either of its forms. */
const creates: readonly (readonly [
  string,
  (fields: Fields, to?: ApiInstance, headers?: Fields) => Promise<ApiAnswer>,
])[] = [
  [
    'JSON',
    (fields, to = api, headers = {}) =>
      to.request('POST', '/v1/clip', { key: team.key, body: { ...source, ...fields }, headers }),
  ],
  [
    'a form',
    (fields, to = api, headers = {}) => {
      const form = formOf(Object.entries({ ...source, ...fields }).map(([name, sent]) => text(name, sent)));
      return to.request('POST', '/v1/clip', {
        key: team.key,
        raw: form.body.toString(),
        headers: { ...headers, 'content-type': form.contentType },
      });
    },
  ],
];

const balance = async () => (await api.request('GET', '/v1/wallet', { key: team.key })).body['balance_cents'];

describe.each(creates)('a callback_url in %s', (form, create) => {
  test('is called when the job has ended', async () => {
    const path = `/ended/${form.replace(' ', '-')}`;
    const created = await create({ callback_url: receiver.url(path) });
    expect(created).toMatchObject({ status: 200 });
    const jobId = String(created.body['job_id']);
    await jobs.endClip(jobId);
    await until('the message', async () => receiver.at(path).length === 1);
    expect(receiver.at(path)[0]?.message).toMatchObject({
      type: 'clip.completed',
      data: { job_id: jobId, status: 'completed' },
    });
  });

  test.each([
    ['ftp://example.com/', 'the URL must start with http:// or https://'],
    ['https://user:password@example.com/', 'the URL must not contain a user name or password'],
    ['not a URL', 'the URL is not valid'],
    ['', 'the URL is not valid'],
    [`https://example.com/${'x'.repeat(5_000)}`, 'the URL is longer than 4096 characters'],
  ])('is refused when it is %j', async (url, because) => {
    const answer = await create({ callback_url: url });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: `callback_url cannot be used: ${because}.`,
        details: [{ path: 'callback_url' }],
      },
    });
  });

  test('is refused where it leads to a private address on its face, and nothing is charged', async () => {
    const before = await balance();
    const statuses = await Promise.all(
      forbiddenAuthorities.map(
        async (authority) =>
          (await create({ callback_url: `http://${authority.replace('%p', '8080')}/` })).status,
      ),
    );
    const accepted = forbiddenAuthorities.filter((_, index) => statuses[index] !== 400);
    // Names that only a resolver knows to be ours; the sender finds out.
    expect(accepted.filter((authority) => !/^[a-z0-9.-]*[a-z]/i.test(authority))).toEqual([]);
    expect(await balance()).toBe(Number(before) - 150 * accepted.length);
  });

  test('is part of what an Idempotency-Key stands for', async () => {
    const headers = { 'idempotency-key': `callback ${form}` };
    const url = receiver.url('/idempotent');
    const created = await create({ callback_url: url }, api, headers);
    const again = await create({ callback_url: url }, api, headers);
    expect([created.status, again.status, again.body]).toEqual([200, 200, created.body]);
    expect(await create({ callback_url: `${url}2` }, api, headers)).toMatchObject({ status: 422 });
    expect(await create({}, api, headers)).toMatchObject({ status: 422 });
  });

  test('is answered 501 by a service that has no key to sign with, which costs nothing', async () => {
    const before = await balance();
    const answer = await create({ callback_url: receiver.url('/unsigned') }, withoutKey);
    expect(answer).toMatchObject({
      status: 501,
      body: {
        error: expect.stringContaining('WEBHOOK_MASTER_KEY'),
        details: [{ path: 'callback_url' }],
      },
    });
    expect(await balance()).toBe(before);
    expect(await create({ callback_url: 'ftp://example.com/' }, withoutKey)).toMatchObject({ status: 400 });
  });
});

describe('a callback_url of a face swap', () => {
  const urls = (more: Fields) => ({
    video_url: sources.url('9.03s.mp4'),
    face_image_url: sources.url('face.jpg'),
    ...more,
  });
  const createSwap = (body: Fields, headers: Fields = {}) =>
    api.request('POST', '/v1/face-swap', { key: team.key, body, headers });

  test('is called when the swap has failed and its money is back', async () => {
    const before = await balance();
    const created = await createSwap(urls({ callback_url: receiver.url('/swap') }));
    expect(created).toMatchObject({ status: 202 });
    const jobId = String(created.body['job_id']);
    await jobs.endSwap(jobId, 'There is no face in the video.');
    await until('the message', async () => receiver.at('/swap').length === 1);
    expect(await balance()).toBe(before);
    expect(receiver.at('/swap')[0]?.message).toMatchObject({
      type: 'face_swap.failed',
      data: { job_id: jobId, status: 'failed', error: 'There is no face in the video.' },
    });
  });

  test('is refused before anything is fetched when it may not be called', async () => {
    const requests = sources.requests();
    expect(await createSwap(urls({ callback_url: 'http://10.0.0.1/' }))).toMatchObject({
      status: 400,
      body: { details: [{ path: 'callback_url' }] },
    });
    expect(sources.requests()).toBe(requests);
  });

  test('is part of what an Idempotency-Key stands for', async () => {
    const headers = { 'idempotency-key': 'swap with a callback' };
    const body = urls({ callback_url: receiver.url('/swap') });
    const created = await createSwap(body, headers);
    expect((await createSwap(body, headers)).body).toEqual(created.body);
    expect(await createSwap(urls({}), headers)).toMatchObject({ status: 422 });
  });
});

test('an instance without a key replays nothing', async () => {
  const path = '/v1/webhooks/deliveries/00000000-0000-4000-8000-000000000000/replay';
  expect(await withoutKey.request('POST', path, { key: team.key })).toMatchObject({ status: 501 });
});
