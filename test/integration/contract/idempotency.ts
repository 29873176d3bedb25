import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Client } from './client.ts';
import type { ContractSystem } from './contract-system.ts';
import { expectCreated } from './create-clip.ts';
import { expectError, expectInvalid } from './expectations.ts';

/** Section "Idempotency" of the decisions. */
export function idempotencyContract(system: () => ContractSystem): void {
  let client: Client;
  let source: { readonly video_url: string };
  beforeAll(async () => {
    client = system().rich;
    source = { video_url: system().sources.url('12s.mov') };
  });
  const create = (key: string, body: Record<string, unknown> = source, by = client) =>
    by.post('/v1/clip', body, { 'idempotency-key': key });

  test.concurrent('the same request gets the first answer again, at any instance and in either form', async () => {
    const key = randomUUID();
    const first = await create(key);
    expectCreated(first, 1);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    const again = await create(key, source, system().elsewhere(client));
    expectCreated(again, 1);
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
    const asForm = await client.form('/v1/clip', [['video_url', source.video_url]], {
      'idempotency-key': key,
    });
    expect([asForm.body, asForm.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
  });

  test.concurrent('at the same moment at two instances it is charged once', async () => {
    const payer = await system().client({ cents: 500 });
    const key = randomUUID();
    const answers = await Promise.all(
      [payer, system().elsewhere(payer), payer, system().elsewhere(payer)].map((by) =>
        create(key, source, by),
      ),
    );
    expect(new Set(answers.map(({ body }) => body['job_id'])).size).toBe(1);
    expect((await payer.get('/v1/wallet')).body).toMatchObject({ balance_cents: 350 });
  });

  test.concurrent('another request under the same key is a 422', async () => {
    const key = randomUUID();
    expectCreated(await create(key), 1);
    expectError(await create(key, { ...source, num_clips: 2 }), 422);
    const other = await system().client();
    expectCreated(await create(key, { ...source, num_clips: 2 }, other), 2);
  });

  test.concurrent('a 402 is forgotten', async () => {
    const payer = await system().client({ cents: 500 });
    const key = randomUUID();
    expectError(await create(key, { ...source, num_clips: 4 }, payer), 402, 'Insufficient wallet balance');
    await system().fixture.topUp(payer.team.teamId, 500);
    expectCreated(await create(key, { ...source, num_clips: 4 }, payer), 4);
  });

  test.concurrent('the key has 1 to 255 printable characters', async () => {
    for (const key of ['x', '~'.repeat(255), 'order 17 / "a"']) expectCreated(await create(key), 1);
    for (const key of ['', 'x'.repeat(256), 'é', 'a\tb'])
      expectInvalid(await create(key), 'Idempotency-Key', ['1 to 255']);
  });
}
