import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { ApiClient, createTeam } from '#test/stack/client.ts';
import { runCommand } from '#test/stack/command.ts';
import { makeFaceImage } from '#test/stack/sample-face.ts';
import { type RunningService, startService } from '#test/stack/service.ts';
import { makeShortTalk } from '#test/stack/short-talk.ts';
import { createTenant, type Tenant } from '#test/stack/tenant.ts';
import { type Canary, startCanary } from '#test/unit/egress/canary.ts';
import { withAlias } from '#test/unit/media/quicktime-alias.ts';
import { type HostileFile, hostileFiles, isWholeRun } from './hostile-files.ts';
import { type HostileServer, startHostileServer } from './hostile-server.ts';
import { watchResidentMemory } from './resident-memory.ts';
import { waysIn } from './ways-in.ts';

/** Hostile and odd videos, by every way in, against the whole service. */

const repository = resolve(import.meta.dirname, '../../..');
const walletCents = 1_000_000;
const clipCents = 150;
/** All of them share two cores; a single one takes seconds. */
const limitMs = isWholeRun ? 40 * 60_000 : 5 * 60_000;
const mostApiBytes = 300 * 1024 ** 2;

let tenant: Tenant;
let server: HostileServer;
let canary: Canary;
let service: RunningService;
let folder: string;
let goodVideo: string;
let goodFace: string;
let client: ApiClient;
/** Clips that were made, and cost. */
let completed = 0;
let memory: ReturnType<typeof watchResidentMemory>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clipledger-hostile-'));
  goodVideo = await makeShortTalk(folder);
  goodFace = join(folder, 'good-face.jpg');
  await makeFaceImage(goodFace);
  tenant = await createTenant();
  [server, canary] = [await startHostileServer(tenant.platform), await startCanary()];
  const env = {
    EGRESS_ALLOW: server.host,
    RATE_LIMIT_PER_MINUTE: '1000000',
    JOB_DEADLINE: `${limitMs / 1000 - 30}s`,
  };
  service = await startService(tenant, { api: 1, projector: 1, workers: 1, env });
  const { key } = await createTeam(tenant, { name: 'hostile', cents: walletCents });
  client = new ApiClient(() => service.baseUrls, key);
  memory = watchResidentMemory(service.baseUrl('api', 0));
});

afterAll(async () => {
  await memory?.stop();
  await service?.stop();
  await server?.close();
  await canary?.close();
  await rm(folder, { recursive: true, force: true });
});

describe.each(waysIn)('$name', (way) => {
  it('ends well for what plays, and with one clear sentence for all else', { timeout: limitMs }, async () => {
    const files = [...hostileFiles, ...(await madeFiles())];
    const around = {
      ...{ client, server, limitMs, goodVideo, goodFace },
      baseUrl: service.baseUrl('api', 0),
    };
    const outcomes = await inTurns(files, way.atOnce, (file) => way.tryFile(file, around));
    completed += outcomes.filter((outcome) => outcome.completed).length;
    expect(files.map(({ name }, index) => [name, outcomes[index]?.words])).toEqual(
      files.map((file) => [file.name, expect.stringMatching(endings[way.must(file)])]),
    );
  });
});

describe('afterwards', () => {
  it('nothing has reached an inner address', () => {
    expect(canary.hits).toEqual([]);
    expect(canary.connections()).toBe(0);
  });

  it('every failed clip has given its money back', async () => {
    const { body } = await client.get('/v1/wallet');
    expect(body).toMatchObject({ balance_cents: walletCents - completed * clipCents });
    const { exitCode, stdout, stderr } = await runCommand(tenant, 'audit', ['verify', '--json']);
    expect(exitCode, `${stdout}${stderr}`).toBe(0);
  });

  it('every process still runs, none of them swollen', async () => {
    for (const role of ['api', 'projector', 'workers'] as const) {
      expect((await fetch(`${service.baseUrl(role, 0)}/health/ready`)).status).toBe(200);
    }
    expect(await memory.stop()).toBeLessThan(mostApiBytes);
  });
});

/** One line without paths or addresses. */
const sentence = String.raw`\w[^\n/]+\.$`;
const endings: Readonly<Record<HostileFile['must'], RegExp>> = {
  play: /^completed$/,
  fail: new RegExp(`^(4\\d\\d|failed): ${sentence}`),
  end: new RegExp(`^completed$|^(4\\d\\d|failed): ${sentence}`),
};

/** Like `Promise.all` of `work`, with no more than `atOnce` at a time. */
async function inTurns<In, Out>(
  items: readonly In[],
  atOnce: number,
  work: (item: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

/** Files that would lead to this run's canary or to a video of the service's own machine. */
async function madeFiles(): Promise<readonly HostileFile[]> {
  const local = join(tenant.platform.containers === null ? repository : '/app', 'infra/sample/talk.mp4');
  const inner = `http://${tenant.platform.containers?.hostName ?? '127.0.0.1'}:${canary.port}/`;
  const lists: Readonly<Record<string, string>> = {
    'list of a local file.mp4': `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile://${local}\n#EXT-X-ENDLIST\n`,
    'list of an inner address.mkv': `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n${inner}a.ts\n#EXT-X-ENDLIST\n`,
    'list with a key from inside.avi': `#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="${inner}key"\n#EXTINF:9,\na.ts\n`,
    'concatenation.mov': `ffconcat version 1.0\nfile '${local}'\nfile '${inner}b.mp4'\n`,
    'manifest.webm': `<?xml version="1.0"?><MPD type="static"><Period><BaseURL>${inner}</BaseURL></Period></MPD>`,
  };
  const texts = Object.entries(lists).map(async ([name, text]) => made(name, Buffer.from(text)));
  return Promise.all([...texts, made('alias of a local file.mov', withAlias(await ownVideo(), local))]);
}

async function made(name: string, bytes: Buffer): Promise<HostileFile> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return { name, path, must: 'fail' };
}

async function ownVideo(): Promise<Buffer> {
  const { ffmpegPath } = await locateMediaTools({}, process.env['PATH'] ?? '');
  const path = join(folder, 'own.mov');
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=10:d=4', '-c:v', 'mpeg4'];
  await promisify(execFile)(ffmpegPath, ['-v', 'error', '-y', ...picture, path]);
  return readFile(path);
}
