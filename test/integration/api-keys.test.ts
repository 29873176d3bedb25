import { afterAll, beforeAll, expect, test } from 'vitest';
import { createdKeyBody, keyListBody } from '#api/http/keys.ts';
import { ApiFixture, type ApiInstance, type Team, until } from './api-fixture.ts';

let fixture: ApiFixture;
let first: ApiInstance;
let second: ApiInstance;
let team: Team;

beforeAll(async () => {
  fixture = await ApiFixture.open({ RATE_LIMIT_PER_MINUTE: '10000' });
  [first, second] = await Promise.all([fixture.startApi(), fixture.startApi()]);
  team = await fixture.createTeam();
});
afterAll(() => fixture?.close());

const create = (body: unknown, key = team.key) => first.request('POST', '/v1/keys', { key, body });

test('a created key works at once on every instance, and its value is nowhere else', async () => {
  const created = await create({ name: 'Second key', expires_at: '2999-01-01T00:00:00+01:00' });
  expect(created.status).toBe(201);
  const body = createdKeyBody.strict().parse(created.body);
  expect(body).toMatchObject({
    name: 'Second key',
    prefix: body.key.slice(0, 8),
    expires_at: '2998-12-31T23:00:00.000Z',
  });
  expect((await second.request('GET', '/v1/test', { key: body.key })).body['key_name']).toBe('Second key');
  const list = await second.request('GET', '/v1/keys', { key: team.key });
  const { keys } = keyListBody.strict().parse(list.body);
  expect(keys.map(({ name, status }) => `${name} ${status}`)).toEqual([
    'Test key active',
    'Second key active',
  ]);
  expect(keys[1]?.last_used_at).not.toBeNull();
  expect(JSON.stringify(list.body)).not.toContain(body.key);
});

test('a revoked key is refused at once on every instance; revoking again changes nothing', async () => {
  const { key, keyId } = await fixture.createKey(team.teamId);
  expect((await second.request('GET', '/v1/test', { key })).status).toBe(200);
  const revoked = await first.request('DELETE', `/v1/keys/${keyId}`, { key: team.key });
  expect(revoked).toMatchObject({
    status: 200,
    body: { key_id: keyId, status: 'revoked', name: 'Test key' },
  });
  expect(await second.request('GET', '/v1/test', { key })).toMatchObject({
    status: 401,
    body: { error: 'Invalid API key' },
  });
  const again = await second.request('DELETE', `/v1/keys/${keyId.toUpperCase()}`, { key: team.key });
  expect(again.status).toBe(200);
  expect(again.body['revoked_at']).toBe(revoked.body['revoked_at']);
});

test("another team's key and what is no key are not found", async () => {
  const other = await fixture.createTeam();
  for (const id of [other.keyId, crypto.randomUUID(), 'x'])
    expect(await first.request('DELETE', `/v1/keys/${id}`, { key: team.key })).toMatchObject({
      status: 404,
      body: { error: 'API key not found' },
    });
  expect((await first.request('GET', '/v1/test', { key: other.key })).status).toBe(200);
});

test.each([
  [{}, 'name'],
  [{ name: '' }, 'name'],
  [{ name: '  ' }, 'name'],
  [{ name: 'a\u0000b' }, 'name'],
  [{ name: 'x'.repeat(201) }, 'name'],
  [{ name: 3 }, 'name'],
  [{ name: 'a', expires_at: 'tomorrow' }, 'expires_at'],
  [{ name: 'a', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  [{ name: 'a', expires_at: '2999-01-01' }, 'expires_at'],
  [{ name: 'a', expires_at: 4_000_000_000 }, 'expires_at'],
  [{ name: 'a', extra: 1 }, 'extra'],
])('%j is refused', async (body, path) =>
  expect(await create(body)).toMatchObject({ status: 400, body: { details: [{ path }] } }),
);

test('a key that expires cannot make one that lives longer', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000);
  const { key } = await fixture.createKey(team.teamId, expiresAt);
  for (const body of [
    { name: 'a' },
    { name: 'a', expires_at: null },
    { name: 'a', expires_at: '2999-01-01T00:00:00Z' },
  ])
    expect(await create(body, key)).toMatchObject({
      status: 400,
      body: { details: [{ path: 'expires_at' }] },
    });
  expect((await create({ name: 'a', expires_at: expiresAt.toISOString() }, key)).status).toBe(201);
});

test('a key can revoke itself', async () => {
  const { key, keyId } = await fixture.createKey(team.teamId);
  expect((await first.request('DELETE', `/v1/keys/${keyId}`, { key })).status).toBe(200);
  expect((await first.request('GET', '/v1/test', { key })).status).toBe(401);
});

test('a key that is revoked while the rows lag is refused all the same, on every instance', async () => {
  const { key, keyId } = await fixture.createKey(team.teamId);
  await fixture.stopProjector();
  try {
    expect((await second.request('GET', '/v1/test', { key })).status).toBe(200);
    const revoked = await first.request('DELETE', `/v1/keys/${keyId}`, { key: team.key });
    expect(revoked).toMatchObject({ status: 200, body: { key_id: keyId, status: 'revoked' } });
    expect((await first.request('GET', '/v1/test', { key })).status).toBe(401);
    await until(
      'the other instance to refuse it',
      async () => (await second.request('GET', '/v1/test', { key })).status === 401,
      1_000,
    );
    const { rows } = await fixture.pool.query(
      'SELECT revoked_at FROM read_model.api_keys WHERE key_id = $1',
      [keyId],
    );
    expect(rows).toEqual([{ revoked_at: null }]);
  } finally {
    fixture.startProjector();
  }
});

test('a team has as many active keys as the limit says; one that is revoked makes room', async () => {
  const limited = await fixture.startApi({ MAX_KEYS_PER_TEAM: '3' });
  const other = await fixture.createTeam();
  const make = () => limited.request('POST', '/v1/keys', { key: other.key, body: { name: 'More' } });
  const made = await Promise.all([make(), make(), make(), make()]);
  expect(made.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409]);
  expect(made.find(({ status }) => status === 409)?.body['error']).toMatch(/3 active keys.*Revoke/);
  const keyId = made.find(({ status }) => status === 201)?.body['key_id'];
  expect((await limited.request('DELETE', `/v1/keys/${keyId}`, { key: other.key })).status).toBe(200);
  expect((await make()).status).toBe(201);
  await limited.stop();
});
