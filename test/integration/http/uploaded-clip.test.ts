import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { connectKafka } from '#infra/kafka/connection.ts';
import { createLogger } from '#infra/log.ts';
import { ApiClient, createTeam } from '#test/stack/client.ts';
import { until } from '#test/stack/poll.ts';
import { type RunningService, startService } from '#test/stack/service.ts';
import { makeShortTalk } from '#test/stack/short-talk.ts';
import { createTenant, type Tenant } from '#test/stack/tenant.ts';
import { readLoggedMoney } from '../../faults/logged-money.ts';
import { file, mp4Like, text } from './form.ts';
import { postParts, UploadedObjects } from './upload-fixture.ts';

/** Uploads in the whole service, seen from outside. */

const jobLimitMs = 240_000;

let tenant: Tenant;
let service: RunningService;
let objects: UploadedObjects;
let key: string;

const firstApi = () => ({ url: service.baseUrls[0] ?? '' });

describe('an uploaded video', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clipledger-uploaded-'));
    tenant = await createTenant();
    service = await startService(tenant, { api: 1, projector: 1, workers: 1 });
    ({ key } = await createTeam(tenant, { name: 'uploads', cents: 1_000 }));
    objects = new UploadedObjects(tenant.env);
  });
  afterAll(async () => {
    objects?.close();
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test(
    'becomes a clip with a title, and is deleted then',
    async () => {
      const parts = [
        file('video', await readFile(await makeShortTalk(folder)), 'board_meeting.mp4'),
        text('length', '10'),
      ];
      const created = await postParts(firstApi(), parts, { 'x-api-key': key });
      expect(created).toMatchObject({ status: 200, body: { num_clips: 1, cost_cents: 150 } });
      const client = new ApiClient(() => service.baseUrls, key);
      const jobId = String(created.body['job_id']);
      const [clip] = await client.completedClips(jobId, jobLimitMs);
      expect(clip).toMatchObject({ status: 'completed', title: expect.stringMatching(/\p{L}/u) });
      const download = await fetch(clip?.download_url ?? '');
      expect(download.status).toBe(200);
      expect((await download.arrayBuffer()).byteLength).toBeGreaterThan(100_000);
      await until('the upload to be deleted', 30_000, async () =>
        (await objects.all()).length === 0 ? true : undefined,
      );
    },
    jobLimitMs + 60_000,
  );

  test(
    'that is none after all fails its clips, is refunded and deleted',
    async () => {
      const created = await postParts(firstApi(), [file('video', mp4Like(100_000))], { 'x-api-key': key });
      expect(created.status).toBe(200);
      const client = new ApiClient(() => service.baseUrls, key);
      const [clip] = await client.completedClips(String(created.body['job_id']), jobLimitMs);
      expect(clip).toMatchObject({ status: 'failed', error: expect.stringMatching(/\S/) });
      expect((await client.get('/v1/wallet')).body).toMatchObject({ balance_cents: 850 });
      await until('the upload to be deleted', 30_000, async () =>
        (await objects.all()).length === 0 ? true : undefined,
      );
    },
    jobLimitMs + 60_000,
  );
});

describe('an instance that is killed between the charge and the answer', () => {
  beforeAll(async () => {
    tenant = await createTenant();
    service = await startService(tenant, { api: 1, projector: 1 });
    ({ key } = await createTeam(tenant, { name: 'crash', cents: 1_000 }));
    objects = new UploadedObjects(tenant.env);
  });
  afterAll(async () => {
    objects?.close();
    await service?.stop();
  });

  test('has charged once, and the form sent again gets that job', async () => {
    const config = parseConfig({ LOG_LEVEL: 'silent', ...tenant.env });
    const kafka = connectKafka(config, { clientId: 'test', log: createLogger(config, 'test') });
    const jobs = async () => [...(await readLoggedMoney(kafka)).debits.keys()];
    const known: string[] = [];

    // On a busy machine the answer may be out before the kill; then it is tried again.
    for (let round = 0; round < 5; round += 1) {
      const headers = { 'x-api-key': key, 'idempotency-key': `crash-${round}` };
      const send = () => postParts(firstApi(), [file('video', mp4Like(100_000))], headers);
      // Without a projector the answer waits for its rows, a second long.
      await service.kill('projector', 0);
      const first = send().then(
        ({ status }) => status,
        () => 'cut off',
      );
      await until('the charge', 30_000, async () => ((await jobs()).length > round ? true : undefined));
      await service.kill('api', 0);
      const [jobId = '', ...others] = (await jobs()).filter((job) => !known.includes(job));
      known.push(jobId);
      await Promise.all([service.restart('projector', 0), service.restart('api', 0)]);

      const again = await send();
      expect(others).toEqual([]);
      expect(again).toMatchObject({ status: 200, body: { job_id: jobId } });
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(await jobs()).toHaveLength(known.length);
      expect((await objects.all()).toSorted()).toEqual(known.map((job) => `uploads/${job}/video`).toSorted());
      if ((await first) === 'cut off') return;
    }
    throw new Error('No answer was cut off in five rounds.');
  });
});
