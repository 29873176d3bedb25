import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiFixture, type ApiInstance, type Team, until } from './api-fixture.ts';
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts';

let fixture: ApiFixture;
let api: ApiInstance;
let beside: ApiInstance;
let team: Team;
let postgres: TcpProxy;
let kafka: TcpProxy;

const source = { video_url: 'https://example.com/video.mp4' };
/** Pool, query and ledger limits together; no answer may take longer. */
const ANSWER_LIMIT_MS = 12_000;

beforeAll(async () => {
  fixture = await ApiFixture.open({ RATE_LIMIT_PER_MINUTE: '10000' });
  const databaseUrl = new URL(fixture.environment['DATABASE_URL'] ?? '');
  postgres = await openTcpProxy({ host: databaseUrl.hostname, port: Number(databaseUrl.port) });
  databaseUrl.host = `127.0.0.1:${postgres.port}`;
  const [host = '', port = ''] = (fixture.environment['KAFKA_BROKERS'] ?? '').split(',')[0]?.split(':') ?? [];
  kafka = await openTcpProxy({ host, port: Number(port) });
  // The instance beside it owns what the cut off one loses, and shows what has really happened.
  beside = await fixture.startApi();
  api = await fixture.startApi({ DATABASE_URL: databaseUrl.href }, () => ({
    host: '127.0.0.1',
    port: kafka.port,
  }));
  team = await fixture.createTeam({ cents: 100_000 });
});
afterAll(async () => {
  await fixture?.close();
  await postgres?.close();
  await kafka?.close();
});

const timed = async <Value>(work: Promise<Value>) => {
  const startedMs = Date.now();
  const value = await work;
  expect(Date.now() - startedMs).toBeLessThan(ANSWER_LIMIT_MS);
  return value;
};
const readWallet = (instance = api) => timed(instance.request('GET', '/v1/wallet', { key: team.key }));
const createClip = (idempotencyKey: string, instance = api) =>
  timed(
    instance.request('POST', '/v1/clip', {
      key: team.key,
      body: source,
      headers: { 'idempotency-key': idempotencyKey },
    }),
  );
const isReady = async () => (await api.request('GET', '/health/ready')).status === 200;
const debits = async () => {
  const { rows } = await fixture.pool.query(
    `SELECT count(*)::int AS count FROM read_model.wallet_transactions WHERE team_id = $1 AND type = 'WalletDebited'`,
    [team.teamId],
  );
  return rows[0].count as number;
};

describe.each(['refuse', 'hang'] as const)('Postgres that would %s', (mode) => {
  test('gives 503 with Retry-After, and all is well again when it is back', async () => {
    const before = await debits();
    postgres.become(mode);
    for (const answer of await Promise.all([readWallet(), createClip(randomUUID())])) {
      expect(answer).toMatchObject({ status: 503, body: { error: expect.any(String) } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    expect((await api.request('GET', '/health/live')).status).toBe(200);
    expect((await timed(api.request('GET', '/health/ready'))).status).toBe(503);
    postgres.become('pass');
    await until('the instance to be ready', isReady);
    expect((await readWallet()).status).toBe(200);
    expect((await createClip(randomUUID())).status).toBe(200);
    expect(await debits()).toBe(before + 1);
  });
});

describe.each(['refuse', 'hang'] as const)('Kafka that would %s', (mode) => {
  test('gives 503 to creates, serves reads, and charges once for a create that is repeated', async () => {
    const before = await debits();
    const key = randomUUID();
    kafka.become(mode);
    const cutOff = await createClip(key);
    expect(cutOff).toMatchObject({
      status: 503,
      body: { error: expect.stringMatching('epeating it with the same Idempotency-Key is safe') },
    });
    expect(Number(cutOff.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await readWallet()).status).toBe(200);
    const unknownJob = await timed(api.request('GET', `/v1/clip/${randomUUID()}`, { key: team.key }));
    expect(unknownJob.status).toBe(503);
    kafka.become('pass');
    await until('the create to be accepted', async () => (await createClip(key)).status === 200, 60_000);
    const again = await createClip(key, beside);
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await debits()).toBe(before + 1);
  }, 90_000);
});

test('while rows lag behind the log, no balance from before the client’s own charge is told', async () => {
  const before = await readWallet(beside);
  const lagging = await fixture.pool.connect();
  try {
    await lagging.query('BEGIN');
    // Readers go on; the projector waits for the lock.
    await lagging.query('LOCK TABLE read_model.wallets IN EXCLUSIVE MODE');
    expect((await createClip(randomUUID(), beside)).status).toBe(200);
    expect((await readWallet(beside)).status).toBe(503);
  } finally {
    await lagging.query('ROLLBACK');
    lagging.release();
  }
  await until('the rows to catch up', async () => (await readWallet(beside)).status === 200, 30_000);
  const balance = Number((await readWallet(beside)).body['balance_cents']);
  expect(balance).toBe(Number(before.body['balance_cents']) - 150);
});

test('while the read model is built anew nobody is told that keys, money or jobs do not exist', async () => {
  const created = await createClip(randomUUID(), beside);
  const path = `/v1/clip/${created.body['job_id']}`;
  const before = await readWallet(beside);
  let rebuilding = true;
  const asked = (async () => {
    const statuses = new Set<number>();
    while (rebuilding)
      for (const target of ['/v1/wallet', path])
        statuses.add((await beside.request('GET', target, { key: team.key })).status);
    return statuses;
  })();
  await fixture.rebuild();
  rebuilding = false;
  for (const status of await asked) expect([200, 503]).toContain(status);
  // An instance that is not yet sure of the new rows goes on with its 503 for a moment.
  await until('the rows to be trusted again', async () => (await readWallet(beside)).status === 200, 30_000);
  expect((await readWallet(beside)).body).toEqual(before.body);
  expect((await beside.request('GET', path, { key: team.key })).status).toBe(200);
});
