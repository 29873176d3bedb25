import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiClient, createKey, createTeam } from '#test/stack/client.ts';
import { runCommand } from '#test/stack/command.ts';
import { type RunningService, startService } from '#test/stack/service.ts';
import { createTenant, type Tenant } from '#test/stack/tenant.ts';

/**
 * Many orders at once over one wallet, at three instances of the API. No worker runs, so nothing fails and
 * no refund makes room for another order meanwhile.
 */

const clipCents = 150;
const orders = 60;
const affordable = 20;

let tenant: Tenant;
let service: RunningService;

beforeAll(async () => {
  tenant = await createTenant();
  service = await startService(tenant, { api: 3, projector: 1 });
});

afterAll(() => service?.stop());

it(`debits a wallet for exactly as many of ${orders} concurrent orders as it affords`, async () => {
  const { teamId, key } = await createTeam(tenant, { name: 'crowd', cents: affordable * clipCents + 100 });
  const client = new ApiClient(() => service.baseUrls, key);
  expect(service.baseUrls).toHaveLength(3);

  const answers = await Promise.all(
    Array.from({ length: orders }, (_, order) =>
      client.post('/v1/clip', { video_url: `https://example.com/video-${order}.mp4` }),
    ),
  );

  const accepted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 402);
  expect([accepted.length, refused.length]).toEqual([affordable, orders - affordable]);
  for (const { body } of refused) {
    expect(body).toEqual({
      error: 'Insufficient wallet balance',
      required_cents: clipCents,
      balance_cents: 100,
    });
  }
  const jobIds = new Set(accepted.map(({ body }) => (body as { job_id: string }).job_id));
  expect(jobIds.size).toBe(affordable);

  // Another key of the team: the first has made its 60 requests of the minute.
  const reader = new ApiClient(() => service.baseUrls, await createKey(tenant, teamId, 'reader'));
  expect((await reader.get('/v1/wallet')).body).toEqual({
    balance_cents: 100,
    total_spent_cents: affordable * clipCents,
    total_topped_up_cents: affordable * clipCents + 100,
    active: true,
  });

  const audit = await runCommand(tenant, 'audit', [
    ...['wallet', '--team', String(teamId), '--format', 'csv'],
  ]);
  expect(audit.exitCode, audit.stderr).toBe(0);
  expect(audit.stdout.match(/WalletDebited/g)).toHaveLength(affordable);
  const verified = await runCommand(tenant, 'audit', ['verify']);
  expect(verified.exitCode, `${verified.stdout}${verified.stderr}`).toBe(0);
});
