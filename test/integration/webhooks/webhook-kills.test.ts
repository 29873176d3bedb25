import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { connectKafka } from '#infra/kafka/connection.ts';
import { readLog } from '#infra/kafka/log-reader.ts';
import { createLogger } from '#infra/log.ts';
import { topicNames } from '#schemas/topics.ts';
import { ApiClient, createTeam } from '#test/stack/client.ts';
import { runCommand, runJson } from '#test/stack/command.ts';
import { until } from '#test/stack/poll.ts';
import { type RunningService, startService } from '#test/stack/service.ts';
import { createTenant, type Tenant } from '#test/stack/tenant.ts';
import { isGenuine, Receiver } from './receiver.ts';

/** The whole service as processes or containers, seen from outside. */

const masterKey = Buffer.alloc(32, 0xa7);
const jobLimitMs = 120_000;
const token = 'in-the-query-only-for-us';

let tenant: Tenant;
let receiver: Receiver;
let service: RunningService;
let team: { teamId: number; key: string };
let client: ApiClient;

beforeAll(async () => {
  const plain = await createTenant();
  const settings = { WEBHOOK_MASTER_KEY: masterKey.toString('hex') };
  tenant = { ...plain, env: { ...plain.env, ...settings } };
  receiver = await Receiver.start(tenant.platform.containers);
  const env = { ...settings, EGRESS_ALLOW: receiver.authority, WEBHOOK_TIMEOUT: '5s', LOG_LEVEL: 'trace' };
  service = await startService(tenant, { api: 1, projector: 1, workers: 1, env });
  team = await createTeam(tenant, { name: 'webhooks', cents: 2_000 });
  client = new ApiClient(() => service.baseUrls, team.key);
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
});

/** Orders a clip of a video that is not there; its job ends with a refund and a message to `path`. */
const order = (path: string) =>
  client.createClip({ video_url: receiver.url('/no-video.mp4'), callback_url: receiver.url(path) });

const secretOf = async (...more: string[]) =>
  (await runJson(tenant, 'admin', ['webhook', 'secret', '--team', String(team.teamId), ...more])) as {
    team_id: number;
    secret: string;
    version: string;
    previous_valid_until: string | null;
  };

test('an api that is killed in the middle of an attempt leads to another one of the same message', async () => {
  const path = `/killed?token=${token}`;
  const arrived = Promise.withResolvers<void>();
  receiver.answer(path, (response) => {
    if (receiver.at(path).length > 1) response.writeHead(200).end();
    else arrived.resolve();
  });
  const jobId = await order(path);
  await arrived.promise;
  await service.kill('api', 0);
  await service.restart('api', 0);
  await until('a second attempt', jobLimitMs, () => receiver.at(path)[1]);
  const { secret } = await secretOf();
  const [lost, taken] = receiver.at(path);
  expect(taken?.headers['webhook-id']).toBe(lost?.headers['webhook-id']);
  for (const message of [lost, taken]) expect(message !== undefined && isGenuine(message, secret)).toBe(true);
  expect(taken?.message).toMatchObject({
    type: 'clip.completed',
    data: { job_id: jobId, clips: [{ status: 'failed' }] },
  });
  const row = await until('it to be recorded', jobLimitMs, async () => {
    const { body } = await client.get(`/v1/webhooks/deliveries?job_id=${jobId}&status=delivered`);
    return (body as { deliveries: Record<string, unknown>[] }).deliveries[0];
  });
  expect(row).toMatchObject({ attempts: 2, last_status_code: 200 });
}, 200_000);

test('a rotated secret signs the next message, beside the one before', async () => {
  const before = await secretOf();
  expect(before).toEqual({
    team_id: team.teamId,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    version: expect.any(String),
    previous_valid_until: null,
  });
  expect(await secretOf()).toEqual(before);
  const rotated = await secretOf('--rotate');
  expect(rotated.secret).not.toBe(before.secret);
  expect(Date.parse(String(rotated.previous_valid_until)) - Date.now()).toBeGreaterThan(23 * 3_600_000);
  expect(await secretOf()).toEqual(rotated);
  await order('/rotated');
  const message = await until('the message', jobLimitMs, () => receiver.at('/rotated')[0]);
  expect([before, rotated].map(({ secret }) => isGenuine(message, secret))).toEqual([true, true]);
});

test('no log and no event holds a secret, and no log the query of a callback', async () => {
  const secrets = [await secretOf(), await secretOf('--rotate')].map(({ secret }) =>
    secret.slice('whsec_'.length),
  );
  const keys = [...secrets, masterKey.toString('hex'), masterKey.toString('base64')];
  const logs = await Promise.all(
    (['api', 'projector', 'workers'] as const).map((role) => service.log(role, 0)),
  );
  for (const kept of [...keys, token]) expect(logs.filter((log) => log.includes(kept))).toEqual([]);
  const raw = [...secrets.map((secret) => Buffer.from(secret, 'base64')), masterKey];
  const leaks: string[] = [];
  let records = 0;
  const config = parseConfig(tenant.env);
  const kafka = connectKafka(config, {
    clientId: 'test',
    log: createLogger({ LOG_LEVEL: 'silent' }, 'test'),
  });
  const signal = AbortSignal.timeout(jobLimitMs);
  for await (const batch of readLog(kafka, { topics: topicNames, signal }))
    for (const { topic, value } of batch.records) {
      records += 1;
      if ([...keys, ...raw].some((kept) => value?.includes(kept))) leaks.push(topic);
    }
  expect(leaks).toEqual([]);
  expect(records).toBeGreaterThan(10);
});

test('the commands say what is missing', async () => {
  const args = ['webhook', 'secret', '--team'];
  expect(await runCommand(tenant, 'admin', [...args, '999'])).toMatchObject({ exitCode: 1, stdout: '' });
  expect((await runCommand(tenant, 'admin', [...args, '999', '--rotate'])).stderr).toContain('no team 999');
  const { WEBHOOK_MASTER_KEY: _, ...env } = tenant.env;
  const withoutKey = await runCommand({ ...tenant, env }, 'admin', [...args, String(team.teamId)]);
  expect(withoutKey).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('WEBHOOK_MASTER_KEY is not set'),
  });
});
