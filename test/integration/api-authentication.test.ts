import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newApiKey } from '#api/api-key.ts';
import { testBody, walletBody } from '#api/http/routes.ts';
import { ApiFixture, type ApiInstance, until } from './api-fixture.ts';

let fixture: ApiFixture;
let first: ApiInstance;
let second: ApiInstance;

beforeAll(async () => {
  fixture = await ApiFixture.open();
  [first, second] = await Promise.all([fixture.startApi(), fixture.startApi()]);
});
afterAll(() => fixture?.close());

const expiringSoon = () => new Date(Date.now() + 300);

/** Every route, also those that do not exist, answers the chain's refusals alike. */
const requests = [
  ['GET', '/v1/test'],
  ['GET', '/v1/wallet'],
  ['POST', '/v1/clip'],
  ['GET', '/v1/clip/none'],
  ['GET', '/v1/keys'],
  ['GET', '/v1'],
  ['GET', '/v1/'],
  ['GET', '/v1/nothing'],
  ['PATCH', '/v1/test'],
  ['GET', '/v1/%zz'],
  ['GET', '/%76%31/test'],
  ['POST', '/v1/nothing?x=1'],
] as const;

describe.each(requests)('%s %s', (method, path) => {
  const ask = (key?: string) => first.request(method, path, { key });
  const expectRefusal = async (key: string | undefined, status: number, error: string) => {
    const answer = await ask(key);
    expect(answer).toMatchObject({ status, body: { error } });
    expect(answer.headers.get('ratelimit-limit')).toBeNull();
  };

  test('without a key', () => expectRefusal(undefined, 401, 'Missing X-API-Key header'));
  test('with something that is no key', () => expectRefusal('secret', 401, 'Invalid API key'));
  test('with a key that does not exist', () => expectRefusal(newApiKey(), 401, 'Invalid API key'));
});

describe('one route through the whole chain', () => {
  test('revoked goes before expired, expired before billing', async () => {
    const team = await fixture.createTeam({ isActive: false, cents: 0, expiresAt: expiringSoon() });
    const revoked = await fixture.createTeam({ isActive: false, cents: 0, expiresAt: expiringSoon() });
    const value = { ...fixture.envelope(revoked.teamId), key_id: revoked.keyId };
    await fixture.submit({ name: 'RevokeApiKey', value });
    await until('the keys to expire', async () => {
      const { body } = await first.request('GET', '/v1/test', { key: team.key });
      return body['error'] === 'API key expired';
    });
    const expired = await first.request('GET', '/v1/test', { key: team.key });
    expect(expired).toMatchObject({ status: 401, body: { error: 'API key expired' } });
    const both = await first.request('GET', '/v1/test', { key: revoked.key });
    expect(both).toMatchObject({ status: 401, body: { error: 'Invalid API key' } });
  });

  test('inactive billing goes before an empty wallet', async () => {
    const inactive = await fixture.createTeam({ isActive: false, cents: 0 });
    const answer = await first.request('GET', '/v1/wallet', { key: inactive.key });
    expect(answer).toMatchObject({ status: 403, body: { error: 'API billing not active' } });
  });

  test('an empty wallet refuses every request, and lets reads through where the setting says so', async () => {
    const empty = await fixture.createTeam({ cents: 0 });
    const lenient = await fixture.startApi({ ZERO_BALANCE_READS: 'allow' });
    const ask = (api: ApiInstance, method: string, path: string) =>
      api.request(method, path, { key: empty.key });
    for (const path of ['/v1/test', '/v1/wallet', '/v1/clip/x', '/v1/nothing'])
      expect(await ask(first, 'GET', path)).toMatchObject({
        status: 402,
        body: { error: 'Insufficient balance' },
      });
    expect(await ask(lenient, 'GET', '/v1/wallet')).toMatchObject({
      status: 200,
      body: { balance_cents: 0, total_spent_cents: 0, total_topped_up_cents: 0, active: true },
    });
    expect(await ask(lenient, 'POST', '/v1/clip')).toMatchObject({ status: 402 });
    await lenient.stop();
  });

  test('a good key says who it is', async () => {
    const team = await fixture.createTeam({ cents: 2_000 });
    const answer = await first.request('GET', '/v1/test', { key: team.key });
    expect(answer.status).toBe(200);
    expect(testBody.strict().parse(answer.body)).toMatchObject({
      team_id: team.teamId,
      key_name: 'Test key',
    });
    const wallet = await second.request('GET', '/v1/wallet', { key: team.key });
    expect(walletBody.strict().parse(wallet.body)).toEqual({
      balance_cents: 2_000,
      total_spent_cents: 0,
      total_topped_up_cents: 2_000,
      active: true,
    });
  });
});

describe('the rate limit', () => {
  test('is 60 a minute for a key on all instances together, and every counted answer says where it stands', async () => {
    const { key } = await fixture.createTeam();
    const answers = await Promise.all(
      Array.from({ length: 75 }, (_, index) =>
        (index % 2 === 0 ? first : second).request('GET', index % 5 === 0 ? '/v1/nothing' : '/v1/test', {
          key,
        }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(15);
    for (const { headers, body } of refused) {
      expect(body).toEqual({ error: 'Rate limit exceeded' });
      const wait = Number(headers.get('retry-after'));
      expect(wait).toBeGreaterThanOrEqual(1);
      expect(wait).toBeLessThanOrEqual(60);
      expect(headers.get('ratelimit-remaining')).toBe('0');
    }
    const remaining = answers
      .filter(({ status }) => status !== 429)
      .map(({ headers }) => Number(headers.get('ratelimit-remaining')));
    expect(remaining.sort((a, b) => b - a)).toEqual(Array.from({ length: 60 }, (_, index) => 59 - index));
    for (const { headers } of answers) {
      expect(headers.get('ratelimit-limit')).toBe('60');
      expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThanOrEqual(1);
    }
  });

  test('does not count what the checks before it refuse', async () => {
    const team = await fixture.createTeam({ cents: 0 });
    await Promise.all(Array.from({ length: 70 }, () => first.request('GET', '/v1/test', { key: team.key })));
    await fixture.topUp(team.teamId, 500);
    const answer = await first.request('GET', '/v1/test', { key: team.key });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('ratelimit-remaining')).toBe('59');
  });

  test('begins anew when the window has passed', async () => {
    const team = await fixture.createTeam();
    await first.request('GET', '/v1/test', { key: team.key });
    await fixture.pool.query(
      `UPDATE service.rate_limit_windows SET request_count = 60,
         window_started_at = now() - interval '55 seconds' WHERE key_id = $1`,
      [team.keyId],
    );
    const last = await first.request('GET', '/v1/test', { key: team.key });
    expect(last.status).toBe(429);
    expect(Number(last.headers.get('retry-after'))).toBeLessThanOrEqual(5);
    await until('a new window', async () => {
      const answer = await first.request('GET', '/v1/test', { key: team.key });
      return answer.status === 200 && answer.headers.get('ratelimit-remaining') === '59';
    });
  });

  test('can be set', async () => {
    const team = await fixture.createTeam();
    const api = await fixture.startApi({ RATE_LIMIT_PER_MINUTE: '2' });
    const statuses = [];
    for (let count = 0; count < 3; count += 1)
      statuses.push((await api.request('GET', '/v1/test', { key: team.key })).status);
    expect(statuses).toEqual([200, 200, 429]);
    await api.stop();
  });
});

test('health and metrics need no key', async () => {
  expect(await first.request('GET', '/health/live')).toMatchObject({ status: 200 });
  expect(await first.request('GET', '/health/ready')).toMatchObject({
    status: 200,
    body: { status: 'ready' },
  });
  const measured = await first.request('GET', '/metrics');
  expect(measured.status).toBe(200);
  expect(String(measured.body)).toContain('clipledger_http_request_seconds');
});
