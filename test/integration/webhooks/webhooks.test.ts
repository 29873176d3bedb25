import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliveryListBody } from '#api/http/webhook-deliveries.ts';
import { deliveryIdOf } from '#api/webhooks/announce.ts';
import { webhookMessageBody } from '#api/webhooks/message.ts';
import { shownSecret } from '#api/webhooks/signature.ts';
import { firstVersion, teamSecret } from '#api/webhooks/team-secrets.ts';
import { startCanary } from '#test/unit/egress/canary.ts';
import { forbiddenAuthorities } from '#test/unit/egress/forbidden-targets.ts';
import { ApiFixture, type ApiInstance, type Team, until } from '../api-fixture.ts';
import { PaidJobs } from './paid-jobs.ts';
import { isGenuine, type Received, Receiver } from './receiver.ts';

const masterKey = Buffer.alloc(32, 42);

let receiver: Receiver;
let elsewhere: Receiver;
let fixture: ApiFixture;
let first: ApiInstance;
let second: ApiInstance;
let jobs: PaidJobs;

beforeAll(async () => {
  [receiver, elsewhere] = await Promise.all([Receiver.start(), Receiver.start()]);
  fixture = await ApiFixture.open({
    RATE_LIMIT_PER_MINUTE: '10000',
    WEBHOOK_MASTER_KEY: masterKey.toString('base64'),
    WEBHOOK_TIMEOUT: '1s',
    EGRESS_ALLOW: `${receiver.authority},${elsewhere.authority}`,
  });
  [first, second] = await Promise.all([fixture.startApi(), fixture.startApi()]);
  jobs = await PaidJobs.open(fixture);
});
afterAll(async () => {
  await jobs?.close();
  await fixture?.close();
  await Promise.all([receiver?.close(), elsewhere?.close()]);
});

const firstSecret = (team: Team) =>
  shownSecret(teamSecret(masterKey, team.teamId, firstVersion(team.teamId)));

/** What came in at `path`, once that is `count` messages. */
async function received(path: string, count = 1): Promise<readonly Received[]> {
  await until(`${count} messages at ${path}`, async () => receiver.at(path).length >= count);
  return receiver.at(path);
}

async function deliveriesOf(team: Team, query = '', api = second) {
  const { status, body } = await api.request('GET', `/v1/webhooks/deliveries${query}`, { key: team.key });
  expect(status).toBe(200);
  return deliveryListBody.strict().parse(body);
}

/** The one delivery of a job, once it is as `isSo` says. */
async function delivery(team: Team, jobId: string, isSo: (row: Record<string, unknown>) => boolean) {
  let row: Record<string, unknown> | undefined;
  await until(`the delivery of ${jobId} to become so`, async () => {
    [row] = (await deliveriesOf(team, `?job_id=${jobId}`)).deliveries;
    return row !== undefined && isSo(row);
  });
  return row;
}

/** Lets a pause that was recorded pass. */
const passPause = (jobId: string) =>
  fixture.pool.query(
    `UPDATE service.webhook_deliveries SET next_attempt_at = now() WHERE job_id = $1 AND status = 'pending'`,
    [jobId],
  );

describe('a finished job', () => {
  test('is announced once, signed, with what its status endpoint answers', async () => {
    const team = await fixture.createTeam();
    const jobId = await jobs.request(team, receiver.url('/hooks/one?token=t'), 2);
    await jobs.endClip(jobId, { item: 0 });
    await jobs.endClip(jobId, { item: 1, error: 'The source has no second topic.' });
    const [message] = await received('/hooks/one?token=t');
    if (message === undefined) throw new Error('Nothing was received.');
    expect(isGenuine(message, firstSecret(team))).toBe(true);
    expect(message.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': deliveryIdOf(jobId),
    });
    webhookMessageBody.parse(message.message);
    expect(message.message).toMatchObject({
      type: 'clip.completed',
      data: {
        job_id: jobId,
        status: 'completed',
        clips: [
          { status: 'completed', title: 'A title' },
          { status: 'failed', error: 'The source has no second topic.' },
        ],
      },
    });
    const asked = await second.request('GET', `/v1/clip/${jobId}`, { key: team.key });
    const withoutLinks = (data: unknown) => JSON.stringify(data).replaceAll(/"download_url":"[^"]*"/g, '');
    expect(withoutLinks(message.message.data)).toBe(withoutLinks(asked.body));
    const row = await delivery(team, jobId, ({ status }) => status === 'delivered');
    expect(row).toMatchObject({
      url: receiver.url('/hooks/one?token=t'),
      attempts: 1,
      last_status_code: 204,
      last_error: null,
      next_attempt_at: null,
      delivered_at: expect.any(String),
    });
  });

  test('is announced only once its refund can be read', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const balances: unknown[] = [];
    receiver.answer('/refund', async (response) => {
      balances.push((await second.request('GET', '/v1/wallet', { key: team.key })).body['balance_cents']);
      response.end();
    });
    const jobId = await jobs.request(team, receiver.url('/refund'));
    await jobs.endClip(jobId, { error: 'The source is broken.' });
    await received('/refund');
    await until('the balance', async () => balances.length === 1);
    expect(balances).toEqual([1_000]);
  });

  test.each([
    ['face_swap.completed', undefined],
    ['face_swap.failed', 'There is no face in the video.'],
  ])('that is a face swap is announced as %s', async (type, error) => {
    const team = await fixture.createTeam();
    const path = `/${type}`;
    const jobId = await jobs.requestSwap(team, receiver.url(path));
    await jobs.endSwap(jobId, error);
    const [message] = await received(path);
    webhookMessageBody.parse(message?.message);
    const { body } = await second.request('GET', `/v1/face-swap/${jobId}`, { key: team.key });
    expect(message?.message).toMatchObject({ type, data: { job_id: jobId, status: body['status'] } });
    expect(message?.message.data['error']).toBe(error);
  });

  test('without a callback, or that goes on, is not announced', async () => {
    const team = await fixture.createTeam();
    await jobs.finished(team, null);
    await jobs.request(team, receiver.url('/unfinished'));
    await jobs.finished(team, receiver.url('/after-those'));
    await received('/after-those');
    expect((await deliveriesOf(team)).deliveries).toHaveLength(1);
    expect(receiver.at('/unfinished')).toEqual([]);
  });

  test('many are each announced once, however many instances there are', async () => {
    const team = await fixture.createTeam();
    const jobIds = await Promise.all(
      Array.from({ length: 40 }, (_, index) => jobs.finished(team, receiver.url(`/many?job=${index}`))),
    );
    await until('all to be delivered', async () => {
      const { deliveries } = await deliveriesOf(team, '?status=delivered&limit=100');
      return deliveries.length === jobIds.length;
    });
    const ids = receiver.received
      .filter(({ path }) => path.startsWith('/many'))
      .map(({ headers }) => headers['webhook-id']);
    expect(ids.toSorted()).toEqual(jobIds.map(deliveryIdOf).toSorted());
  });
});

describe('an endpoint that does not take it', () => {
  test('is asked again later, with the same id and a new signature', async () => {
    const team = await fixture.createTeam();
    receiver.answer('/failing', (response) => {
      const status = receiver.at('/failing').length === 1 ? 500 : 200;
      response.writeHead(status).end('ignored');
    });
    const jobId = await jobs.finished(team, receiver.url('/failing'));
    const waiting = await delivery(team, jobId, ({ last_error }) => last_error !== null);
    expect(waiting).toMatchObject({
      status: 'pending',
      attempts: 1,
      last_status_code: 500,
      last_error: `${receiver.authority} answered 500.`,
      delivered_at: null,
    });
    const pauseMs =
      Date.parse(String(waiting?.['next_attempt_at'])) - Date.parse(String(waiting?.['last_attempt_at']));
    expect(pauseMs).toBeGreaterThan(4_000);
    expect(pauseMs).toBeLessThan(8_000);
    await passPause(jobId);
    const [failed, taken] = await received('/failing', 2);
    expect(taken?.headers['webhook-id']).toBe(failed?.headers['webhook-id']);
    expect(taken !== undefined && isGenuine(taken, firstSecret(team))).toBe(true);
    expect(await delivery(team, jobId, ({ status }) => status === 'delivered')).toMatchObject({
      attempts: 2,
      last_status_code: 200,
      last_error: null,
    });
  });

  test('is left alone after eleven attempts', async () => {
    const team = await fixture.createTeam();
    receiver.answer('/never', (response) => void response.writeHead(404).end());
    const jobId = await jobs.finished(team, receiver.url('/never'));
    for (let attempt = 1; attempt < 11; attempt += 1) {
      const row = await delivery(
        team,
        jobId,
        ({ attempts, last_error, next_attempt_at }) =>
          attempts === attempt && last_error !== null && next_attempt_at !== null,
      );
      expect(row).toMatchObject({ status: 'pending' });
      await passPause(jobId);
    }
    expect(await delivery(team, jobId, ({ status }) => status === 'failed')).toMatchObject({
      attempts: 11,
      last_status_code: 404,
      next_attempt_at: null,
    });
    expect(receiver.at('/never')).toHaveLength(11);
  });

  test('may say that it is gone', async () => {
    const team = await fixture.createTeam();
    receiver.answer('/gone', (response) => void response.writeHead(410).end());
    const jobId = await jobs.finished(team, receiver.url('/gone'));
    expect(await delivery(team, jobId, ({ status }) => status === 'failed')).toMatchObject({
      attempts: 1,
      last_status_code: 410,
    });
  });

  test('may ask for time', async () => {
    const team = await fixture.createTeam();
    receiver.answer('/busy', (response) => void response.writeHead(429, { 'retry-after': '3600' }).end());
    const jobId = await jobs.finished(team, receiver.url('/busy'));
    const row = await delivery(team, jobId, ({ last_error }) => last_error !== null);
    const pauseMs =
      Date.parse(String(row?.['next_attempt_at'])) - Date.parse(String(row?.['last_attempt_at']));
    expect(Math.round(pauseMs / 60_000)).toBe(60);
  });

  test('leads nobody elsewhere by a redirect', async () => {
    const team = await fixture.createTeam();
    receiver.answer(
      '/moved',
      (response) => void response.writeHead(307, { location: receiver.url('/elsewhere') }).end(),
    );
    const jobId = await jobs.finished(team, receiver.url('/moved'));
    expect(await delivery(team, jobId, ({ last_error }) => last_error !== null)).toMatchObject({
      status: 'pending',
      last_status_code: 307,
      last_error: expect.stringContaining('redirects are not followed'),
    });
    expect(receiver.at('/elsewhere')).toEqual([]);
  });

  test('cannot keep us by an endless answer', async () => {
    const team = await fixture.createTeam();
    receiver.answer('/endless', (response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('x'.repeat(100_000)), 10);
      response.once('close', () => clearInterval(drip));
    });
    const jobId = await jobs.finished(team, receiver.url('/endless'));
    await delivery(team, jobId, ({ status }) => status === 'delivered');
  });

  test('delays neither other teams nor other endpoints of its team', async () => {
    const [slow, quick] = await Promise.all([fixture.createTeam(), fixture.createTeam()]);
    let open = 0;
    let mostOpen = 0;
    receiver.answer('/slow', (response) => {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      response.once('close', () => {
        open -= 1;
      });
    });
    await Promise.all(Array.from({ length: 20 }, () => jobs.finished(slow, receiver.url('/slow'))));
    await received('/slow', 4);
    await Promise.all([
      jobs.finished(quick, receiver.url('/quick')),
      jobs.finished(slow, elsewhere.url('/quick')),
    ]);
    await received('/quick');
    await until('the other endpoint', async () => elsewhere.at('/quick').length === 1);
    // A round of attempts at the slow one takes a second; nobody waited for all five.
    expect((await deliveriesOf(slow, '?status=pending&limit=100')).deliveries.length).toBeGreaterThan(10);
    expect(mostOpen).toBeLessThanOrEqual(2 * 4);
    await until('an attempt to be given up', async () =>
      (await deliveriesOf(slow)).deliveries.some(
        ({ last_error: error }) => error === '127.0.0.1 did not answer within 1 s.',
      ),
    );
    receiver.answer('/slow', (response) => void response.end());
  });
});

test('targets that are not on the public internet are never reached', async () => {
  const team = await fixture.createTeam({ cents: 100_000 });
  const canary = await startCanary();
  try {
    const urls = forbiddenAuthorities.map(
      (authority) => `http://${authority.replace('%p', String(canary.port))}/hook`,
    );
    await Promise.all(urls.map((url) => jobs.finished(team, url)));
    let rows: readonly Record<string, unknown>[] = [];
    await until('all to have been attempted', async () => {
      ({ rows } = await fixture.pool.query(
        `SELECT url, last_status_code, last_error FROM service.webhook_deliveries
         WHERE team_id = $1 AND last_error IS NOT NULL`,
        [team.teamId],
      ));
      return rows.length === urls.length;
    });
    // A name that does not resolve here is no address of ours either.
    const odd = rows.filter(
      ({ last_error: error, last_status_code: code }) =>
        code !== null || !/^Nothing is sent to |does not exist or has no address/.test(String(error)),
    );
    expect(odd).toEqual([]);
    expect([canary.connections(), canary.hits]).toEqual([0, []]);
  } finally {
    await canary.close();
  }
});

describe('the list of deliveries', () => {
  test('is in pages, newest first, and only of the own team', async () => {
    const [team, other] = await Promise.all([fixture.createTeam(), fixture.createTeam()]);
    const jobIds: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      jobIds.push(await jobs.finished(team, receiver.url('/page')));
      await received('/page', index + 1);
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await deliveriesOf(team, `?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`, first);
      seen.push(...page.deliveries.map(({ job_id: jobId }) => jobId));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(jobIds.toReversed());
    expect((await deliveriesOf(other)).deliveries).toEqual([]);
    expect((await deliveriesOf(other, `?job_id=${jobIds[0]}`)).deliveries).toEqual([]);
  });

  test.each([
    ['?status=lost', 'status must be one of pending, delivered, failed.'],
    ['?job_id=1', 'job_id must be the job_id of a job, a UUID.'],
    ['?limit=0', 'limit must be an integer from 1 to 100.'],
    ['?cursor=x', 'cursor must be the next_cursor of the page before, unchanged.'],
    ['?team=2', 'team is not known; the query parameters here are job_id, status, cursor, limit.'],
  ])('%s is refused', async (query, error) => {
    const team = await fixture.createTeam();
    const answer = await first.request('GET', `/v1/webhooks/deliveries${query}`, { key: team.key });
    expect(answer).toMatchObject({ status: 400, body: { error } });
  });
});

describe('a replay', () => {
  test('sends the same message again now, whatever became of it', async () => {
    const [team, other] = await Promise.all([fixture.createTeam(), fixture.createTeam()]);
    const jobId = await jobs.finished(team, receiver.url('/replay'));
    await delivery(team, jobId, ({ status }) => status === 'delivered');
    const path = `/v1/webhooks/deliveries/${deliveryIdOf(jobId)}/replay`;
    expect(await first.request('POST', path, { key: other.key })).toMatchObject({
      status: 404,
      body: { error: 'Delivery not found' },
    });
    expect(receiver.at('/replay')).toHaveLength(1);
    expect(
      await first.request(
        'POST',
        path
          .toUpperCase()
          .replace('/V1/WEBHOOKS/DELIVERIES', '/v1/webhooks/deliveries')
          .replace('REPLAY', 'replay'),
        { key: team.key },
      ),
    ).toMatchObject({
      status: 202,
      body: { delivery_id: deliveryIdOf(jobId), status: 'pending', attempts: 1 },
    });
    const [once, twice] = await received('/replay', 2);
    expect(twice?.headers['webhook-id']).toBe(once?.headers['webhook-id']);
    expect(twice !== undefined && isGenuine(twice, firstSecret(team))).toBe(true);
    await delivery(team, jobId, ({ status, attempts }) => status === 'delivered' && attempts === 2);
  });

  test.each(['00000000-0000-4000-8000-000000000000', 'x'])(
    'of the unknown delivery %s is refused',
    async (id) => {
      const team = await fixture.createTeam();
      const path = `/v1/webhooks/deliveries/${id}/replay`;
      expect(await first.request('POST', path, { key: team.key })).toMatchObject({
        status: 404,
        body: { error: 'Delivery not found' },
      });
    },
  );
});

test('after a rotation both secrets hold for 24 hours, then the new one alone', async () => {
  const team = await fixture.createTeam();
  const version = crypto.randomUUID();
  await fixture.submit({
    name: 'RotateWebhookSecret',
    value: { ...fixture.envelope(team.teamId), version },
  });
  const newSecret = shownSecret(teamSecret(masterKey, team.teamId, version));
  await jobs.finished(team, receiver.url('/overlap'));
  const [during] = await received('/overlap');
  expect(
    during !== undefined && [newSecret, firstSecret(team)].map((secret) => isGenuine(during, secret)),
  ).toEqual([true, true]);
  await fixture.pool.query(
    `UPDATE read_model.webhook_secret_rotations SET rotated_at = rotated_at - interval '24 hours' WHERE team_id = $1`,
    [team.teamId],
  );
  await jobs.finished(team, receiver.url('/later'));
  const [later] = await received('/later');
  expect(
    later !== undefined && [newSecret, firstSecret(team)].map((secret) => isGenuine(later, secret)),
  ).toEqual([true, false]);
});

test('attempts and the backlog are measured', async () => {
  const team = await fixture.createTeam();
  const jobId = await jobs.finished(team, receiver.url('/measured'));
  await delivery(team, jobId, ({ status }) => status === 'delivered');
  const { body } = await first.request('GET', '/metrics');
  const text = String(body);
  for (const outcome of ['delivered', 'retried', 'failed'])
    expect(text).toMatch(new RegExp(`clipledger_webhook_attempts_total{outcome="${outcome}"} [1-9]`));
  expect(text).toMatch(/clipledger_webhooks_pending \d/);
  expect(text).toMatch(/clipledger_webhook_backlog_seconds \d/);
});

test('a rebuild of the read model sends nothing again', async () => {
  const team = await fixture.createTeam();
  const jobId = await jobs.finished(team, receiver.url('/rebuilt'));
  await delivery(team, jobId, ({ status }) => status === 'delivered');
  const version = crypto.randomUUID();
  await fixture.submit({ name: 'RotateWebhookSecret', value: { ...fixture.envelope(team.teamId), version } });
  await fixture.rebuild();
  const third = await fixture.startApi();
  await jobs.finished(team, receiver.url('/after-rebuild'));
  const [message] = await received('/after-rebuild');
  const newSecret = shownSecret(teamSecret(masterKey, team.teamId, version));
  expect(message !== undefined && isGenuine(message, newSecret)).toBe(true);
  expect(receiver.at('/rebuilt')).toHaveLength(1);
  await third.stop();
});

test('with a database that was lost whole, only jobs of the last 25 hours are announced again', async () => {
  const team = await fixture.createTeam();
  const hourMs = 3_600_000;
  const [old, recent] = [
    await jobs.request(team, receiver.url('/years-ago')),
    await jobs.request(team, receiver.url('/yesterday')),
  ];
  await jobs.endClip(old, { occurredAtMs: Date.now() - 26 * hourMs });
  await jobs.endClip(recent, { occurredAtMs: Date.now() - 20 * hourMs });
  await until('both to be rows', async () => {
    const { rows } = await fixture.pool.query(
      `SELECT FROM read_model.jobs WHERE status = 'completed' AND job_id = ANY ($1)`,
      [[old, recent]],
    );
    return rows.length === 2;
  });
  // An instance that starts looks at all that is recent.
  const third = await fixture.startApi();
  await received('/yesterday');
  expect(receiver.at('/years-ago')).toEqual([]);
  await third.stop();
});

test('an instance that stops lets its attempts end', async () => {
  const team = await fixture.createTeam();
  const third = await fixture.startApi({ WEBHOOK_TIMEOUT: '20s' });
  await Promise.all([first.stop(), second.stop()]);
  const held = Promise.withResolvers<() => void>();
  receiver.answer('/held', (response) => held.resolve(() => void response.end()));
  const jobId = await jobs.finished(team, receiver.url('/held'));
  const release = await held.promise;
  const stopped = third.stop();
  release();
  await stopped;
  const { rows } = await fixture.pool.query(
    'SELECT status, attempts FROM service.webhook_deliveries WHERE job_id = $1',
    [jobId],
  );
  expect(rows).toEqual([{ status: 'delivered', attempts: 1 }]);
  expect(receiver.at('/held')).toHaveLength(1);
});
