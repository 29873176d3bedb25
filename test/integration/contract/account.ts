import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Client } from './client.ts';
import type { ContractSystem } from './contract-system.ts';
import { eachOf } from './create-clip.ts';
import { bodies, expectError, expectInvalid } from './expectations.ts';

/** Sections 4.1, 4.6 and 5.2 of the interface: who am I, what have I, and the team's keys. */
export function accountContract(system: () => ContractSystem): void {
  test.concurrent('GET /v1/test says whose key it is', async () => {
    const client = await system().client();
    const body = bodies.test.parse((await client.get('/v1/test')).body);
    expect(body).toMatchObject({ team_id: client.team.teamId, key_name: 'Test key' });
    expect(Math.abs(Date.parse(body.timestamp) - Date.now())).toBeLessThan(60_000);
  });

  test.concurrent('GET /v1/wallet has the sums', async () => {
    const client = await system().client({ cents: 2_000 });
    const { status, body } = await client.get('/v1/wallet');
    expect([status, bodies.wallet.parse(body)]).toEqual([
      200,
      { balance_cents: 2_000, total_spent_cents: 0, total_topped_up_cents: 2_000, active: true },
    ]);
  });

  describe('keys', () => {
    test.concurrent('are made, listed without their value, used and revoked', async () => {
      const client = await system().client();
      const created = await client.post('/v1/keys', { name: 'build server' });
      expect(created.status).toBe(201);
      const key = bodies.keyCreated.parse(created.body);
      expect(key).toMatchObject({ name: 'build server', expires_at: null });
      expect(key.key.startsWith(key.prefix)).toBe(true);

      const made = new Client(system().baseUrls[1], key.key);
      expect((await made.get('/v1/test')).body).toMatchObject({ key_name: 'build server' });
      const list = await client.get('/v1/keys');
      expect(JSON.stringify(list.body)).not.toContain(key.key);
      const listed = (list.body['keys'] as unknown[]).map((row) => bodies.key.parse(row));
      expect(listed).toHaveLength(2);
      expect(listed.find(({ key_id }) => key_id === key.key_id)).toMatchObject({
        status: 'active',
        revoked_at: null,
      });

      const revoked = await client.delete(`/v1/keys/${key.key_id}`);
      expect(revoked.status).toBe(200);
      expect(bodies.key.parse(revoked.body)).toMatchObject({ key_id: key.key_id, status: 'revoked' });
      expectError(await made.get('/v1/test'), 401, 'Invalid API key');
      const again = await client.delete(`/v1/keys/${key.key_id}`);
      expect([again.status, again.body['revoked_at']]).toEqual([200, revoked.body['revoked_at']]);
    });

    test.concurrent('may expire', async () => {
      const client = await system().client();
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const { status, body } = await client.post('/v1/keys', { name: 'x', expires_at: expiresAt });
      expect([status, body['expires_at']]).toEqual([201, expiresAt]);
      const expiring = new Client(system().baseUrls[0], String(body['key']));
      const longer = await expiring.post('/v1/keys', { name: 'y' });
      expectInvalid(longer, 'expires_at', [expiresAt]);
    });

    test.concurrent('have a name, and a time to come where they have one', async () => {
      const client = system().rich;
      const names = [undefined, null, 1, '', '   ', 'a\u0000b', 'a\nb', 'x'.repeat(201), [], {}];
      await eachOf(names, async (name) => expectInvalid(await client.post('/v1/keys', { name }), 'name', []));
      const times = ['2001-01-01T00:00:00Z', 'tomorrow', '2090-01-01', '2090-01-01T00:00:00', 1, '', {}];
      await eachOf(times, async (expires_at) =>
        expectInvalid(await client.post('/v1/keys', { name: 'x', expires_at }), 'expires_at', ['ISO 8601']),
      );
      expectInvalid(await client.post('/v1/keys', { name: 'x', team: 1 }), 'team', ['name', 'expires_at']);
      for (const name of ['x', 'é', '😀'.repeat(200), 'x'.repeat(200)])
        expect((await client.post('/v1/keys', { name })).status).toBe(201);
    });

    test.concurrent('of others are not found', async () => {
      const [client, other] = await Promise.all([system().client(), system().client()]);
      for (const id of [other.team.keyId, randomUUID(), 'x'])
        expectError(await client.delete(`/v1/keys/${id}`), 404);
      expect((await other.get('/v1/test')).status).toBe(200);
    });
  });
}
