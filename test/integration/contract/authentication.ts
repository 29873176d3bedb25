import { beforeAll, describe, expect, test } from 'vitest';
import { Client } from './client.ts';
import type { ContractSystem } from './contract-system.ts';
import { expectError, expectRateLimit } from './expectations.ts';

/** Every operation of the interface, and paths where there is none: the checks hold everywhere. */
const requests = [
  ['GET', '/v1/test'],
  ['POST', '/v1/clip'],
  ['GET', '/v1/clip/00000000-0000-4000-8000-000000000000'],
  ['POST', '/v1/face-swap'],
  ['GET', '/v1/face-swap/00000000-0000-4000-8000-000000000000'],
  ['GET', '/v1/wallet'],
  ['POST', '/v1/keys'],
  ['GET', '/v1/keys'],
  ['DELETE', '/v1/keys/00000000-0000-4000-8000-000000000000'],
  ['GET', '/v1/nothing'],
  ['PUT', '/v1/clip'],
] as const;

/** Sections 3.1, 5 and 7 of the interface: who gets in, in which order it is checked, and what is said. */
export function authenticationContract(system: () => ContractSystem): void {
  let keys: Readonly<Record<'unknown' | 'revoked' | 'expired' | 'inactive' | 'empty', string>>;

  beforeAll(async () => {
    const { fixture } = system();
    const soon = new Date(Date.now() + 1_000);
    const [good, revoked, expired, inactive, empty] = await Promise.all([
      system().client(),
      // Everything is wrong with this one; what is checked first counts.
      system().client({ isActive: false, cents: 0, expiresAt: soon }),
      system().client({ isActive: false, cents: 0, expiresAt: soon }),
      system().client({ isActive: false, cents: 0 }),
      system().client({ cents: 0 }),
    ]);
    const value = { ...fixture.envelope(revoked.team.teamId), key_id: revoked.team.keyId };
    await fixture.submit({ name: 'RevokeApiKey', value });
    // One character away from a key that works.
    const key = String(good.key);
    const unknown = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
    await untilExpired(expired);
    keys = {
      unknown,
      revoked: revoked.team.key,
      expired: expired.team.key,
      inactive: inactive.team.key,
      empty: empty.team.key,
    };
  });

  const refusals = [
    [undefined, 401, 'Missing X-API-Key header'],
    ['unknown', 401, 'Invalid API key'],
    ['revoked', 401, 'Invalid API key'],
    ['expired', 401, 'API key expired'],
    ['inactive', 403, 'API billing not active'],
    ['empty', 402, 'Insufficient balance'],
  ] as const;

  describe.each(requests)('%s %s', (method, path) => {
    test.concurrent.each(refusals)('with the key %s: %s %s', async (which, status, text) => {
      const client = new Client(system().baseUrls[0], which === undefined ? undefined : keys[which]);
      const answer = await client.send(method, path, {});
      expectError(answer, status, text);
      expect(answer.body).toEqual({ error: text });
      expect(answer.headers.get('ratelimit-limit')).toBeNull();
    });
  });

  test.concurrent.each(['', ' ', 'x', 'cl_', `cl_${'a'.repeat(36)}`, 'é'])('%j is no key', async (key) => {
    const answer = await new Client(system().baseUrls[0], undefined).get('/v1/test', { 'x-api-key': key });
    expectError(answer, 401, key.trim() === '' ? 'Missing X-API-Key header' : 'Invalid API key');
  });

  test('60 requests a minute for each key, on all instances and for whatever path', async () => {
    const limited = await system().fixture.startApi({ RATE_LIMIT_PER_MINUTE: '60' });
    const { team } = await system().client();
    const client = new Client(limited.url, team.key);
    const paths = ['/v1/test', '/v1/wallet', '/v1/nothing', '/v1/clip/x'];
    const counted = await Promise.all(
      Array.from({ length: 60 }, (_, index) => client.get(paths[index % paths.length] ?? '')),
    );
    for (const answer of counted) {
      expect([200, 404]).toContain(answer.status);
      expectRateLimit(answer, 60);
    }
    const refused = await client.get('/v1/test');
    expectError(refused, 429, 'Rate limit exceeded');
    expectRateLimit(refused, 60);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    // Another key of the same team has a minute of its own.
    const other = await system().fixture.createKey(team.teamId);
    expect((await new Client(limited.url, other.key).get('/v1/test')).status).toBe(200);
    await limited.stop();
  });

  test('ZERO_BALANCE_READS=allow lets a team without money read', async () => {
    const lenient = await system().fixture.startApi({ ZERO_BALANCE_READS: 'allow' });
    const client = new Client(lenient.url, keys.empty);
    expect((await client.get('/v1/wallet')).status).toBe(200);
    expect((await client.get('/v1/keys')).status).toBe(200);
    expectError(await client.post('/v1/clip', {}), 402, 'Insufficient balance');
    expectError(await client.delete('/v1/keys/x'), 402, 'Insufficient balance');
    await lenient.stop();
  });
}

/** Keys know no clock but the service's own. */
async function untilExpired(client: Client): Promise<void> {
  while ((await client.get('/v1/test')).body['error'] !== 'API key expired');
}
