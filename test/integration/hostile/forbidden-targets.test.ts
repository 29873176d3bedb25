import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient, createTeam } from '#test/stack/client.ts';
import { type RunningService, startService } from '#test/stack/service.ts';
import { createTenant, type Tenant } from '#test/stack/tenant.ts';
import { type Canary, startCanary } from '#test/unit/egress/canary.ts';
import { forbiddenAuthorities, forbiddenUrls, withPort } from '#test/unit/egress/forbidden-targets.ts';
import { type HostileServer, startHostileServer } from './hostile-server.ts';

/** Every spelling of an inner address, in every field that takes a URL, against the whole service. */

const walletCents = 100_000;
const limitMs = 120_000;

let tenant: Tenant;
let server: HostileServer;
let canary: Canary;
let service: RunningService;
let client: ApiClient;

beforeAll(async () => {
  tenant = await createTenant();
  [server, canary] = [await startHostileServer(tenant.platform), await startCanary()];
  const env = { EGRESS_ALLOW: server.host, RATE_LIMIT_PER_MINUTE: '1000000' };
  service = await startService(tenant, { api: 1, projector: 1, workers: 1, env });
  const { key } = await createTeam(tenant, { name: 'forbidden', cents: walletCents });
  client = new ApiClient(() => service.baseUrls, key);
});

afterAll(async () => {
  await service?.stop();
  await server?.close();
  await canary?.close();
});

const elsewhere = 'https://example.com/video.mp4';

/** The requests that carry a URL, each with a URL in one of its fields. */
const fields = [
  { field: 'video_url', path: '/v1/clip', order: (url: string) => ({ video_url: url }) },
  {
    field: 'music_url',
    path: '/v1/clip',
    order: (url: string) => ({ video_url: elsewhere, music_url: url }),
  },
  {
    field: 'callback_url',
    path: '/v1/clip',
    order: (url: string) => ({ video_url: elsewhere, callback_url: url }),
  },
  {
    field: 'video_url',
    path: '/v1/face-swap',
    order: (url: string) => ({ video_url: url, face_image_url: elsewhere }),
  },
  {
    field: 'face_image_url',
    path: '/v1/face-swap',
    order: (url: string) => ({ video_url: elsewhere, face_image_url: url }),
  },
  {
    field: 'callback_url',
    path: '/v1/face-swap',
    order: (url: string) => ({ video_url: elsewhere, face_image_url: elsewhere, callback_url: url }),
  },
] as const;

/** Names that only a resolver knows to be forbidden: they are told apart when they are fetched. */
const resolvedLater = /\.example:|^ip6-localhost|localdomain/;

/** The targets that a request may be refused for without asking anybody. */
function targetsForbiddenOnTheirFace(): readonly string[] {
  const authorities = forbiddenAuthorities.filter((authority) => !resolvedLater.test(authority));
  const urls = [...authorities.map((authority) => `http://${authority}/video.mp4`), ...forbiddenUrls];
  return urls.map((url) => withPort(url, canary.port));
}

/** Names that lead to this machine, as the service's own resolver says. */
function innerUrls(): readonly string[] {
  const { containers } = tenant.platform;
  const names = containers === null ? [hostname(), 'ip6-localhost'] : [containers.hostName];
  // What is an address and no name is refused on its face.
  return names.filter((name) => isIP(name) === 0).map((name) => `http://${name}:${canary.port}/video.mp4`);
}

/** Ways of our own server to lead the service to an inner address after it was let in. */
function redirects(): readonly string[] {
  const hosts = ['127.0.0.1', '[::1]', tenant.platform.containers?.hostName ?? 'ip6-localhost'];
  const inner = hosts.map((host) => `http://${host}:${canary.port}/`);
  const farther = server.put({ redirectTo: inner[0] ?? '' });
  const others = ['file:///etc/passwd', 'ftp://127.0.0.1/', `//2130706433:${canary.port}/`];
  return [...inner, ...others, farther].map((redirectTo) => server.put({ redirectTo }));
}

describe.each(fields)('$field of $path', ({ field, path, order }) => {
  it('refuses all spellings at once, and says which field it is', { timeout: limitMs }, async () => {
    const targets = targetsForbiddenOnTheirFace();
    expect(targets.length).toBeGreaterThan(100);
    const refusal = new RegExp(`^${field} cannot be used: the URL .+\\.$`);
    const accepted = [];
    for (const url of targets) {
      const { status, body } = await client.post(path, order(url));
      const { error = '' } = body as { error?: string };
      if (status !== 400 || !refusal.test(error)) accepted.push([url, status, error]);
    }
    expect(accepted).toEqual([]);
  });
});

it('a clip of what a name or a redirect leads inside to fails, and is refunded', {
  timeout: limitMs,
}, async () => {
  const jobIds = [];
  for (const url of [...innerUrls(), ...redirects()])
    jobIds.push(await client.createClip({ video_url: url }));
  const jobs = await Promise.all(jobIds.map((jobId) => client.completedClips(jobId, limitMs)));
  for (const [clip] of jobs) {
    expect(clip).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^The video may not be fetched: .+\.$|^The host \S+ does not exist\.$/),
    });
  }
  expect((await client.get('/v1/wallet')).body).toMatchObject({ balance_cents: walletCents });
});

it('a face swap of it is refused before it is charged', { timeout: limitMs }, async () => {
  for (const url of [...innerUrls(), ...redirects()]) {
    for (const order of [
      { video_url: url, face_image_url: server.put({ body: 'no image' }) },
      { video_url: server.put({ body: 'no video' }), face_image_url: url },
    ]) {
      const { status, body } = await client.post('/v1/face-swap', order);
      expect([400, 422], JSON.stringify(body)).toContain(status);
    }
  }
  expect((await client.get('/v1/wallet')).body).toMatchObject({ balance_cents: walletCents });
});

it('nothing of all that was fetched', () => {
  expect(canary.hits).toEqual([]);
  expect(canary.connections()).toBe(0);
});
