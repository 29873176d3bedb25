import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { ApiClient, type ClipView, createKey, createTeam } from '#test/stack/client.ts';
import { runCommand, runJson } from '#test/stack/command.ts';
import { type MediaServer, startMediaServer } from '#test/stack/media-server.ts';
import { until } from '#test/stack/poll.ts';
import { type RunningService, startService } from '#test/stack/service.ts';
import { makeShortTalk } from '#test/stack/short-talk.ts';
import { createTenant, type Tenant } from '#test/stack/tenant.ts';

/** The whole service, seen only from outside: over HTTP and through the operator's commands. */

const clipCents = 150;
const jobLimitMs = 240_000;
/** Long enough for the command that makes the key, also on a busy machine. */
const shortLifeMs = 30_000;

let tenant: Tenant;
let media: MediaServer;
let service: RunningService;
let folder: string;
/** A key that expires while the first tests run. */
let shortLived: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clipledger-service-'));
  tenant = await createTenant();
  media = await startMediaServer(tenant.platform, { '/talk.mp4': await makeShortTalk(folder) });
  const env = { EGRESS_ALLOW: media.egressAllow };
  service = await startService(tenant, { api: 2, projector: 1, workers: 1, env });
  const { teamId } = await createTeam(tenant, { name: 'short', cents: 500 });
  const expiresAt = new Date(Date.now() + shortLifeMs).toISOString();
  shortLived = await createKey(tenant, teamId, 'short', ['--expires-at', expiresAt]);
});

afterAll(async () => {
  await service?.stop();
  await media?.close();
  await rm(folder, { recursive: true, force: true });
});

const clientWith = (key: string): ApiClient => new ApiClient(() => service.baseUrls, key);

describe('a paid clip', () => {
  let client: ApiClient;
  let teamId: number;
  let clips: readonly ClipView[];

  beforeAll(async () => {
    const team = await createTeam(tenant, { name: 'story', cents: 1_000 });
    teamId = team.teamId;
    client = clientWith(team.key);
    const working = await client.get('/v1/test');
    expect(working.body).toMatchObject({ status: 'working', team_id: teamId, key_name: 'story' });

    const order = { video_url: media.url('/talk.mp4'), num_clips: 1, length: 10, camera_mode: 'center-crop' };
    const created = await client.post('/v1/clip', order);
    expect([created.status, created.body]).toEqual([
      200,
      { job_id: expect.any(String), num_clips: 1, cost_cents: clipCents, status: 'processing' },
    ]);
    const { job_id: jobId } = created.body as { job_id: string };
    // Through another instance than the one that took the order: what was written is read at once.
    const processing = await client.get(`/v1/clip/${jobId}`);
    expect(processing.body).toMatchObject({ job_id: jobId, status: 'processing', progress: { total: 1 } });
    expect((await client.get('/v1/wallet')).body).toEqual({
      balance_cents: 1_000 - clipCents,
      total_spent_cents: clipCents,
      total_topped_up_cents: 1_000,
      active: true,
    });
    clips = await client.completedClips(jobId, jobLimitMs);
  }, jobLimitMs + 60_000);

  it('is completed, with a title and a download URL', () => {
    expect(clips).toEqual([
      {
        clip_id: expect.any(Number),
        status: 'completed',
        title: expect.stringMatching(/\S/),
        heading: expect.any(String),
        download_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\//),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      },
    ]);
  });

  it('downloads without a key as a vertical video with sound', async () => {
    const response = await fetch(clips[0]?.download_url ?? '');
    expect(response.status).toBe(200);
    const file = join(folder, 'clip.mp4');
    await writeFile(file, Buffer.from(await response.arrayBuffer()));
    const { streams, format } = await probe(file);
    expect(streams).toContainEqual(
      expect.objectContaining({ codec_name: 'h264', width: 1080, height: 1920 }),
    );
    expect(streams).toContainEqual(expect.objectContaining({ codec_name: 'aac' }));
    expect(Number(format.duration)).toBeGreaterThan(5);
    expect(Number(format.duration)).toBeLessThan(7);
  });

  it('is in the audit of its wallet, which Kafka alone tells', async () => {
    const args = ['wallet', '--team', String(teamId), '--format', 'json'];
    const { exitCode, stdout, stderr } = await runCommand(tenant, 'audit', args);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain('WalletToppedUp');
    expect(stdout).toContain('WalletDebited');
    expect(stdout).not.toContain('WalletRefunded');
  });

  it('costs nothing when its source is not there: the clips fail and are refunded', async () => {
    const order = { video_url: media.url('/missing.mp4'), num_clips: 2 };
    const jobId = await client.createClip(order);
    const failed = await client.completedClips(jobId, jobLimitMs);
    expect(failed).toHaveLength(2);
    for (const clip of failed) {
      expect(clip).toMatchObject({ status: 'failed', error: expect.stringMatching(/404/) });
      expect(clip.download_url).toBeUndefined();
    }
    // A job is shown as completed only when its refunds are in the wallet.
    expect((await client.get('/v1/wallet')).body).toMatchObject({
      balance_cents: 1_000 - clipCents,
      total_spent_cents: clipCents,
    });
  });

  it('leaves a log and a database that the auditor finds whole', async () => {
    const { exitCode, stdout, stderr } = await runCommand(tenant, 'audit', ['verify', '--json']);
    expect(exitCode, `${stdout}${stderr}`).toBe(0);
  });
});

describe('a request that is refused', () => {
  it('names the missing or unknown key', async () => {
    const without = await clientWith('').get('/v1/wallet');
    expect([without.status, without.body]).toEqual([401, { error: 'Missing X-API-Key header' }]);
    const unknown = await clientWith('cl_unknown').get('/v1/wallet');
    expect([unknown.status, unknown.body]).toEqual([401, { error: 'Invalid API key' }]);
  });

  it('names a key that is past its date', async () => {
    const expired = await until('the key has expired', 60_000, async () => {
      const answer = await clientWith(shortLived).get('/v1/test');
      return answer.status === 401 ? answer : undefined;
    });
    expect(expired.body).toEqual({ error: 'API key expired' });
  });

  it('names a key that is revoked', async () => {
    const { teamId } = await createTeam(tenant, { name: 'keys', cents: 500 });
    const team = ['--team', String(teamId)];
    const doomed = (await runJson(tenant, 'admin', [
      ...['key', 'create', ...team, '--name', 'doomed', '--json'],
    ])) as { key: string; key_id: string };
    expect((await clientWith(doomed.key).get('/v1/test')).status).toBe(200);
    await runJson(tenant, 'admin', ['key', 'revoke', '--key-id', doomed.key_id, '--json']);
    const revoked = await until('the key is revoked', 10_000, async () => {
      const answer = await clientWith(doomed.key).get('/v1/test');
      return answer.status === 401 ? answer : undefined;
    });
    expect(revoked.body).toEqual({ error: 'Invalid API key' });
  });

  it('says that billing is not active, before it says that the wallet is empty', async () => {
    const { team_id: teamId } = (await runJson(tenant, 'admin', [
      ...['team', 'create', '--name', 'inactive', '--json'],
    ])) as { team_id: number };
    const client = clientWith(await createKey(tenant, teamId, 'inactive'));
    const inactive = await client.get('/v1/wallet');
    expect([inactive.status, inactive.body]).toEqual([403, { error: 'API billing not active' }]);

    await runJson(tenant, 'admin', ['billing', 'activate', '--team', String(teamId), '--json']);
    const empty = await client.get('/v1/wallet');
    expect([empty.status, empty.body]).toEqual([402, { error: 'Insufficient balance' }]);
  });

  it('says what an order would have cost', async () => {
    const { key } = await createTeam(tenant, { name: 'poor', cents: 500 });
    const order = { video_url: media.url('/talk.mp4'), num_clips: 4 };
    const refused = await clientWith(key).post('/v1/clip', order);
    expect([refused.status, refused.body]).toEqual([
      402,
      { error: 'Insufficient wallet balance', required_cents: 600, balance_cents: 500 },
    ]);
  });

  it('is told when to come again after 60 requests in a minute, on whichever instance', async () => {
    const { key } = await createTeam(tenant, { name: 'eager', cents: 500 });
    const client = clientWith(key);
    const answers = await Promise.all(Array.from({ length: 70 }, () => client.get('/v1/test')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    expect(refused).toHaveLength(10);
    expect(refused[0]?.body).toEqual({ error: 'Rate limit exceeded' });
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

type Probed = {
  readonly streams: readonly {
    readonly codec_name: string;
    readonly width?: number;
    readonly height?: number;
  }[];
  readonly format: { readonly duration: string };
};

async function probe(file: string): Promise<Probed> {
  const { ffprobePath } = await locateMediaTools({}, process.env['PATH'] ?? '');
  const args = ['-v', 'error', '-show_streams', '-show_format', '-of', 'json', file];
  const { stdout } = await promisify(execFile)(ffprobePath, args, { timeout: 20_000 });
  return JSON.parse(stdout);
}
