import { describe, expect, test } from 'vitest';
import { hashApiKey, newApiKey } from '#api/api-key.ts';
import { type AuthenticationPorts, authenticate } from '#api/http/authentication.ts';
import { FailedAuthentications } from '#api/http/failed-authentications.ts';
import type { KeyHolder } from '#api/read-keys.ts';

const now = new Date('2026-06-01T12:00:00Z');
const past = new Date(now.getTime() - 1_000);
const future = new Date(now.getTime() + 1_000);
const key = newApiKey();

const holder: KeyHolder = {
  keyId: '11111111-1111-4111-8111-111111111111',
  keyName: 'Main',
  teamId: 7,
  expiresAt: null,
  revokedAt: null,
  billingActive: true,
  balanceCents: 500,
};
const standing = { isExceeded: false, limit: 60, remaining: 59, resetSeconds: 60 };

function service(given: {
  holder?: Partial<KeyHolder> | null;
  isExceeded?: boolean;
  isBehind?: boolean;
  isRebuilding?: boolean;
  zeroBalanceReads?: 'allow' | 'deny';
}) {
  const counted: string[] = [];
  const found = given.holder === null ? undefined : { ...holder, ...given.holder };
  const ports: AuthenticationPorts = {
    findKeyHolder: async (keyHash) => (keyHash.equals(hashApiKey(key)) ? found : undefined),
    countRequest: async (keyId) => {
      counted.push(keyId);
      return { ...standing, isExceeded: given.isExceeded ?? false, resetSeconds: 17 };
    },
    isCurrent: async () => !(given.isBehind ?? false),
    isRebuilding: () => given.isRebuilding ?? false,
    failures: new FailedAuthentications(() => now.getTime()),
    now: () => now,
    zeroBalanceReads: given.zeroBalanceReads ?? 'deny',
  };
  return { ports, counted };
}

const credentials = { apiKey: key, isRead: true, address: '192.0.2.1' };

/** Everything after the first failing check fails as well, so that only the order decides. */
const order = [
  ['no key', { apiKey: undefined, found: null }, 401, 'Missing X-API-Key header'],
  ['an empty key', { apiKey: '', found: null }, 401, 'Missing X-API-Key header'],
  ['a key with a typo', { apiKey: `${key.slice(0, -1)}!`, found: null }, 401, 'Invalid API key'],
  ['an unknown key', { apiKey: newApiKey(), found: null }, 401, 'Invalid API key'],
  [
    'a revoked and expired key of an inactive, empty team',
    { found: { revokedAt: past, expiresAt: past, billingActive: false, balanceCents: 0 } },
    401,
    'Invalid API key',
  ],
  [
    'an expired key of an inactive, empty team',
    { found: { expiresAt: past, billingActive: false, balanceCents: 0 } },
    401,
    'API key expired',
  ],
  [
    'a key that expires in this very moment',
    { found: { expiresAt: now, billingActive: false } },
    401,
    'API key expired',
  ],
  [
    'an inactive, empty team',
    { found: { billingActive: false, balanceCents: 0 } },
    403,
    'API billing not active',
  ],
  ['an empty team over its rate', { found: { balanceCents: 0 } }, 402, 'Insufficient balance'],
  ['a team over its rate', { found: {} }, 429, 'Rate limit exceeded'],
] as const;

describe('the authentication chain', () => {
  test.each(order)('%s: the first failing check answers', async (_case, given, status, error) => {
    const { ports, counted } = service({ holder: given.found, isExceeded: true });
    const admission = await authenticate(
      { ...credentials, ...('apiKey' in given ? { apiKey: given.apiKey } : {}) },
      ports,
    );
    expect(admission).toMatchObject({ refused: { status, body: { error } } });
    expect(counted).toHaveLength(status === 429 ? 1 : 0);
  });

  test('a good key is let through and counted', async () => {
    const { ports, counted } = service({ holder: { expiresAt: future } });
    const admission = await authenticate(credentials, ports);
    expect(admission).toMatchObject({
      principal: { teamId: 7, keyName: 'Main', keyExpiresAt: future },
      standing: { limit: 60 },
    });
    expect(counted).toEqual([holder.keyId]);
  });

  test('too many requests are told when to come again', async () => {
    const { ports } = service({ holder: {}, isExceeded: true });
    const admission = await authenticate(credentials, ports);
    expect(admission).toMatchObject({ refused: { headers: { 'retry-after': '17' } } });
  });

  test.each([
    ['deny', true, 402],
    ['deny', false, 402],
    ['allow', false, 402],
    ['allow', true, undefined],
  ] as const)(
    'an empty wallet with ZERO_BALANCE_READS=%s, read %s: %s',
    async (zeroBalanceReads, isRead, status) => {
      const { ports } = service({ holder: { balanceCents: 0 }, zeroBalanceReads });
      const admission = await authenticate({ ...credentials, isRead }, ports);
      expect('refused' in admission ? admission.refused.status : undefined).toBe(status);
    },
  );

  test.each([
    ['an unknown key', null],
    ['inactive billing', { billingActive: false }],
    ['an empty wallet', { balanceCents: 0 }],
  ])('%s is no refusal while the rows are behind the log', async (_case, found) => {
    const { ports } = service({ holder: found, isBehind: true });
    const admission = await authenticate(credentials, ports);
    expect(admission).toMatchObject({
      refused: { status: 503, headers: { 'retry-after': expect.any(String) } },
    });
  });

  test.each([
    ['revoked', { revokedAt: past }],
    ['expired', { expiresAt: past }],
  ])('%s stays a refusal also then', async (_case, found) => {
    const { ports } = service({ holder: found, isBehind: true });
    expect(await authenticate(credentials, ports)).toMatchObject({ refused: { status: 401 } });
  });
});

describe('rows that lag behind', () => {
  test('are looked at again once they hold what the log held', async () => {
    const { ports } = service({ holder: {} });
    const looks = [undefined, { ...holder, balanceCents: 0 }, holder];
    const findKeyHolder = async () => looks.shift();
    expect(await authenticate(credentials, { ...ports, findKeyHolder })).toHaveProperty('principal');
  });

  test('answer nobody while they are rebuilt', async () => {
    const { ports, counted } = service({ holder: {}, isRebuilding: true });
    expect(await authenticate(credentials, ports)).toMatchObject({ refused: { status: 503 } });
    expect(counted).toHaveLength(0);
  });
});

describe('look-ups of keys that do not exist', () => {
  test('are refused from one address after 300 in a minute, and possible again after it', async () => {
    let nowMs = 0;
    const failures = new FailedAuthentications(() => nowMs);
    const ports = { ...service({ holder: null }).ports, failures };
    const statusFrom = async (address: string) => {
      const admission = await authenticate({ apiKey: newApiKey(), isRead: true, address }, ports);
      return 'refused' in admission ? admission.refused.status : 0;
    };
    for (let count = 0; count < 300; count += 1) expect(await statusFrom('192.0.2.1')).toBe(401);
    expect(await statusFrom('192.0.2.1')).toBe(429);
    expect(await statusFrom('192.0.2.2')).toBe(401);
    nowMs = 60_001;
    expect(await statusFrom('192.0.2.1')).toBe(401);
  });

  test('do not hold up a key that has just worked from the same address', async () => {
    const { ports } = service({ holder: {} });
    expect(await authenticate(credentials, ports)).toHaveProperty('principal');
    for (let count = 0; count < 301; count += 1)
      await authenticate({ ...credentials, apiKey: newApiKey() }, ports);
    expect(await authenticate(credentials, ports)).toHaveProperty('principal');
  });
});
