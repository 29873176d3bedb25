import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { EgressFailure } from '#infra/egress/egress-failure.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { locateMediaTools, type MediaTools } from '#infra/media/media-tools.ts';
import { videoDuration } from '#infra/media/video-duration.ts';
import { probeRemoteDuration, type RemoteDurationProbe } from '#infra/sources/probe-remote-duration.ts';
import { hostileFiles } from '#test/integration/hostile/hostile-files.ts';
import { startCanary } from '#test/unit/egress/canary.ts';
import { fileAnswers, type SentBytes } from './file-server.ts';
import { makeTestVideos, pictureMs, repeatTestVideo } from './test-videos.ts';

// Making videos and probing them takes seconds, and on a busy machine many.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

let videos: string;
let tools: MediaTools;
let folder: string;
let server: Server;
let origin: string;
let answer: RequestListener;
let sent: SentBytes;

beforeAll(async () => {
  videos = await mkdtemp(join(tmpdir(), 'videos-'));
  await makeTestVideos(videos);
  tools = await locateMediaTools({}, process.env['PATH'] ?? '');
});

afterAll(() => rm(videos, { recursive: true, force: true }));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'probe-'));
  sent = { body: 0, ranges: [] };
  server = createServer((request, response) => answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await rm(folder, { recursive: true, force: true });
});

function probing(name: string, over: Partial<RemoteDurationProbe> = {}): Promise<number> {
  return probeRemoteDuration({
    url: `http://${origin}/${encodeURIComponent(name)}?token=secret`,
    allow: [origin],
    tools,
    folder,
    maxBytes: 500_000_000,
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    ...over,
  });
}

async function failure(
  name: string,
  over: Partial<RemoteDurationProbe> = {},
): Promise<EgressFailure | MediaFailure> {
  const error = await probing(name, over).catch((thrown: unknown) => thrown);
  expect(error instanceof EgressFailure || error instanceof MediaFailure, String(error)).toBe(true);
  return error as EgressFailure;
}

const playable = [
  'moov-first.mp4',
  'moov-last.mov',
  'fragmented.mp4',
  'tagged.mkv',
  'untagged.mkv',
  'index-last.avi',
  'vp8.webm',
];

describe('the duration of a remote video', () => {
  test.each(playable)('is the picture’s, not the sound’s: %s', async (name) => {
    answer = fileAnswers(videos, sent, { ranges: true });
    const durationMs = await probing(name);
    // An AVI counts whole frames, and a fragmented file its offset.
    expect(durationMs).toBeGreaterThanOrEqual(pictureMs);
    expect(durationMs).toBeLessThanOrEqual(pictureMs + 100);
    expect(durationMs).toBe(
      await videoDuration(join(videos, name), {
        tools,
        taskFolder: folder,
        signal: new AbortController().signal,
      }),
    );
  });

  test.each(['moov-last.mov', 'tagged.mkv', 'index-last.avi'])(
    'takes a small part of a long file: %s',
    async (name) => {
      await repeatTestVideo(videos, name, `long-${name}`);
      answer = fileAnswers(videos, sent, { ranges: true });
      expect(await probing(`long-${name}`)).toBeGreaterThanOrEqual(7 * pictureMs);
      expect((await stat(join(videos, `long-${name}`))).size).toBeGreaterThan(40_000_000);
      expect(sent.body).toBeLessThan(12_000_000);
    },
  );

  test.each(playable)('is found where the server knows no ranges: %s', async (name) => {
    answer = fileAnswers(videos, sent, { ranges: false });
    expect(await probing(name)).toBeGreaterThanOrEqual(pictureMs);
    expect(sent.ranges).toEqual([]);
  });

  test('is found behind a redirect', async () => {
    const files = fileAnswers(videos, sent, { ranges: true });
    answer = (request, response) => {
      if (request.url?.startsWith('/there/')) files(request, response);
      else response.writeHead(302, { location: `/there${request.url}` }).end();
    };
    expect(await probing('moov-last.mov')).toBe(pictureMs);
  });
});

describe('what is no video, or tricks', () => {
  test('sound alone has no picture to bill', async () => {
    answer = fileAnswers(videos, sent, { ranges: true });
    expect(await failure('sound-only.m4v')).toMatchObject({ code: 'NO_PICTURE', retryable: false });
  });

  test('a web page is named as one', async () => {
    for (const status of [200, 206]) {
      const page = '<!doctype html><title>404</title>';
      answer = (_request, response) => {
        if (status === 206) response.setHeader('content-range', `bytes 0-${page.length - 1}/${page.length}`);
        response.writeHead(status).end(page);
      };
      await rm(join(folder, 'ranges'), { force: true });
      await rm(join(folder, 'whole'), { force: true });
      const error = await failure('page.mp4');
      expect(error).toMatchObject({ code: 'NOT_A_VIDEO' });
      expect(error.message).toContain('web page');
    }
  });

  test('a status is told without the query string', async () => {
    answer = (_request, response) => void response.writeHead(403).end();
    const error = await failure('v.mp4');
    expect(error).toMatchObject({ code: 'REFUSED' });
    expect(error.message).not.toContain('secret');
  });

  test('a size over the limit is refused after the first bytes', async () => {
    answer = fileAnswers(videos, sent, { ranges: true });
    expect(await failure('moov-last.mov', { maxBytes: 1_000_000 })).toMatchObject({ code: 'TOO_LARGE' });
    expect(sent.ranges).toHaveLength(1);
  });

  test('a size over the limit is refused where the server knows no ranges', async () => {
    answer = fileAnswers(videos, sent, { ranges: false });
    expect(await failure('moov-last.mov', { maxBytes: 1_000_000 })).toMatchObject({ code: 'TOO_LARGE' });
  });

  test('a server that claims more than it sends is given up', async () => {
    answer = (request, response) => {
      const start = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0);
      response
        .writeHead(206, { 'content-range': `bytes ${start}-${start + 99}/400000000` })
        .end('x'.repeat(100));
    };
    expect(await failure('v.mp4')).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  });

  test('a server that pours more than was asked is read no further', async () => {
    let poured = 0;
    answer = (_request, response) => {
      response.writeHead(206, { 'content-range': 'bytes 0-262143/300000000' });
      const pour = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) poured += 64 * 1024;
      };
      response.on('drain', pour);
      pour();
    };
    expect(await failure('v.mp4')).toMatchObject({ code: 'NOT_A_VIDEO' });
    expect(poured).toBeLessThan(20_000_000);
  });

  test('a server that never answers is given up within the time limit', async () => {
    answer = () => undefined;
    const error = await failure('v.mp4', { timeoutMs: 300 });
    expect(error).toMatchObject({ code: 'TIME_LIMIT', retryable: true });
  });

  test('a server that goes silent in the middle is given up within the time limit', async () => {
    const files = fileAnswers(videos, sent, { ranges: true });
    let asked = 0;
    answer = (request, response) => {
      asked += 1;
      if (asked <= 2) files(request, response);
    };
    expect(await failure('moov-last.mov', { timeoutMs: 1_500 })).toMatchObject({ code: 'TIME_LIMIT' });
  });

  test('the caller can stop it', async () => {
    const abort = new AbortController();
    answer = () => abort.abort();
    expect(await failure('v.mp4', { signal: abort.signal })).toMatchObject({ code: 'ABORTED' });
  });

  test('an inner address is not asked', async () => {
    const canary = await startCanary();
    const url = `http://127.0.0.1:${canary.port}/v.mp4`;
    expect(await failure('', { url })).toMatchObject({ code: 'FORBIDDEN' });
    answer = (_request, response) => void response.writeHead(302, { location: url }).end();
    expect(await failure('v.mp4')).toMatchObject({ code: 'FORBIDDEN' });
    expect(canary.connections()).toBe(0);
    await canary.close();
  });
});

const canaryPlaylists: Readonly<Record<string, string>> = {
  'hls.mp4': '#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nCANARY/a.ts\n#EXT-X-ENDLIST\n',
  'concat.mp4': "ffconcat version 1.0\nfile 'CANARY/a.mp4'\n",
  'dash.mp4':
    '<?xml version="1.0"?><MPD mediaPresentationDuration="PT9S"><Period><BaseURL>CANARY/</BaseURL></Period></MPD>',
};

test('playlists in disguise lead ffprobe nowhere', async () => {
  const canary = await startCanary();
  for (const [name, text] of Object.entries(canaryPlaylists)) {
    await writeFile(join(videos, name), text.replaceAll('CANARY', `http://127.0.0.1:${canary.port}`));
    answer = fileAnswers(videos, sent, { ranges: true });
    expect(await failure(name)).toMatchObject({ code: 'NOT_A_VIDEO' });
    await rm(join(folder, 'ranges'), { force: true });
  }
  expect(canary.connections()).toBe(0);
  await canary.close();
});

const hostileFolder = dirname(hostileFiles[0]?.path ?? '');

test.skipIf(hostileFiles.length === 0)(
  'of each hostile file is found or refused with a sentence, quickly and from one place only',
  async () => {
    const inner = await startCanary();
    answer = fileAnswers(hostileFolder, sent, { ranges: true });
    for (const { name } of hostileFiles) {
      const own = await mkdtemp(join(folder, 'own-'));
      const outcome = await probing(name, { folder: own }).catch((error: unknown) => error);
      if (typeof outcome === 'number') expect(outcome, name).toBeLessThan(4 * 3_600_000);
      else expect((outcome as Error).message, name).toMatch(/^(The|There) [^/]{10,200}\.$/);
    }
    expect(inner.connections()).toBe(0);
    await inner.close();
  },
  240_000,
);
