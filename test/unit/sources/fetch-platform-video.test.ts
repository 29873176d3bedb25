import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type EgressProxy, startEgressProxy } from '#infra/egress/egress-proxy.ts';
import { locateMediaTools, type MediaTools } from '#infra/media/media-tools.ts';
import { probe } from '#infra/media/probe.ts';
import { describePlatformVideo } from '#infra/sources/describe-platform-video.ts';
import { fetchPlatformVideo, type PlatformFetch } from '#infra/sources/fetch-platform-video.ts';
import { PlatformFailure } from '#infra/sources/platform-failure.ts';
import { platformUrls } from '#infra/sources/platform-urls.ts';
import type { PlatformContext } from '#infra/sources/run-yt-dlp.ts';
import type { YtDlp } from '#infra/sources/yt-dlp.ts';
import { type Canary, startCanary } from '#test/unit/egress/canary.ts';
import { fileAnswers, type SentBytes } from './file-server.ts';
import { realYtDlp, ytDlpWithTestPlatform } from './test-platform.ts';

const run = promisify(execFile);

// Each fetch starts Python twice, which takes a second and, on a busy machine, many.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let media: string;
let tools: MediaTools;
let ytDlp: YtDlp;
let canary: Canary;

let folder: string;
let server: Server;
let port: number;
let proxy: EgressProxy;
/** What the platform says of its videos, by id. */
let videos: Record<string, unknown>;
let other: RequestListener;
let sent: SentBytes;

beforeAll(async () => {
  media = await mkdtemp(join(tmpdir(), 'platform-media-'));
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=10:d=4'];
  const sound = ['-f', 'lavfi', '-i', 'sine=d=4'];
  const coded = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '10', '-c:a', 'aac'];
  await run('ffmpeg', ['-v', 'error', ...picture, ...sound, ...coded, join(media, 'whole.mp4')]);
  await run('ffmpeg', ['-v', 'error', ...picture, ...coded, join(media, 'picture.mp4')]);
  await run('ffmpeg', ['-v', 'error', ...sound, '-c:a', 'aac', join(media, 'sound.m4a')]);
  await run('ffmpeg', [
    ...['-v', 'error', '-i', join(media, 'whole.mp4'), '-c', 'copy', '-f', 'hls', '-hls_time', '1'],
    ...['-hls_list_size', '0', join(media, 'list.m3u8')],
  ]);
  tools = await locateMediaTools({}, process.env['PATH'] ?? '');
  ytDlp = await ytDlpWithTestPlatform();
  canary = await startCanary();
}, 60_000);

afterAll(async () => {
  await canary.close();
  await rm(media, { recursive: true, force: true });
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-'));
  videos = {};
  sent = { body: 0, ranges: [] };
  other = fileAnswers(media, sent, { ranges: true });
  server = createServer((request, response) => {
    const id = /^\/api\/([\w-]+)/.exec(request.url ?? '')?.[1];
    if (id === undefined || videos[id] === undefined) other(request, response);
    else response.end(JSON.stringify(videos[id]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  proxy = await startEgressProxy({ allow: allow(), resolve: async () => ['127.0.0.1'] });
});

afterEach(async () => {
  await proxy.close();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await rm(folder, { recursive: true, force: true });
  expect(canary.connections()).toBe(0);
});

const allow = () => [`video.example:${port}`];
const at = (path: string) => `http://video.example:${port}${path}`;

function context(over: Partial<PlatformContext> = {}): PlatformContext {
  return { tools, ytDlp, proxy, allow: allow(), folder, signal: new AbortController().signal, ...over };
}

function fetching(id: string, over: Partial<PlatformFetch> = {}, contextOver: Partial<PlatformContext> = {}) {
  return fetchPlatformVideo(
    {
      url: at(`/watch/${id}?token=secret#t=3`),
      path: join(folder, 'source'),
      timeoutMs: 60_000,
      maxDurationMs: 3_600_000,
      maxBytes: 50_000_000,
      ...over,
    },
    context(contextOver),
  );
}

async function failure(...how: Parameters<typeof fetching>): Promise<PlatformFailure> {
  const error = await fetching(...how).catch((thrown: unknown) => thrown);
  expect(error, String(error)).toBeInstanceOf(PlatformFailure);
  expect((error as Error).message).not.toContain('secret');
  // Nothing is left behind, whatever happened.
  expect(await readdir(folder)).toEqual([]);
  return error as PlatformFailure;
}

const whole = {
  url: '/files/whole.mp4',
  format_id: '18',
  ext: 'mp4',
  width: 320,
  height: 180,
  vcodec: 'avc1.42',
  acodec: 'mp4a.40',
};

function video(over: object = {}, formats: readonly { url: string }[] = [whole]) {
  return {
    title: 'A talk',
    duration: 4,
    formats: formats.map((format) => ({
      ...format,
      url: format.url.startsWith('/') ? at(format.url) : format.url,
    })),
    ...over,
  };
}

describe('a video of a hosting platform', () => {
  test('is described without being fetched', async () => {
    videos['a'] = video({ duration: 4.25 });
    const found = await describePlatformVideo(
      { url: at('/watch/a'), timeoutMs: 30_000, maxDurationMs: 5_000 },
      context(),
    );
    expect(found).toMatchObject({
      title: 'A talk',
      durationMs: 4_250,
      extractor: 'ExampleVideo',
      formatIds: ['18'],
    });
    expect(sent.body).toBe(0);
  });

  test('is fetched as it is when picture and sound come together', async () => {
    videos['a'] = video();
    const progress: number[] = [];
    const found = await fetching('a', { onProgress: (bytes) => void progress.push(bytes) });
    expect(found).toMatchObject({ title: 'A talk', durationMs: 4_000, extractor: 'ExampleVideo' });
    expect(await readFile(join(folder, 'source'))).toEqual(await readFile(join(media, 'whole.mp4')));
    expect(await readdir(folder)).toEqual(['source']);
  });

  test('is joined when picture and sound come apart, and is not larger than 1080p', async () => {
    const picture = { ext: 'mp4', vcodec: 'avc1.64', acodec: 'none' };
    videos['a'] = video({}, [
      { ...picture, url: '/files/missing.mp4', format_id: '4k', width: 3840, height: 2160 } as {
        url: string;
      },
      { ...picture, url: '/files/picture.mp4', format_id: 'hd', width: 1920, height: 1080 } as {
        url: string;
      },
      { ...picture, url: '/files/missing.mp4', format_id: 'sd', width: 640, height: 360 } as { url: string },
      { url: '/files/sound.m4a', format_id: '140', ext: 'm4a', vcodec: 'none', acodec: 'mp4a.40' } as {
        url: string;
      },
    ]);
    expect((await fetching('a')).formatIds).toEqual(['hd', '140']);
    const joined = await probe(join(folder, 'source'), {
      tools,
      taskFolder: folder,
      signal: new AbortController().signal,
    });
    expect(joined.video).toMatchObject({ codec: 'h264', width: 320 });
    expect(joined.audio).toMatchObject({ codec: 'aac' });
  });

  test('is made an MP4 when it comes as HLS', async () => {
    videos['a'] = video({}, [
      { ...whole, url: '/files/list.m3u8', protocol: 'm3u8_native' } as { url: string },
    ]);
    await fetching('a');
    const joined = await probe(join(folder, 'source'), {
      tools,
      taskFolder: folder,
      signal: new AbortController().signal,
    });
    expect(joined).toMatchObject({ type: { contentType: 'video/mp4' }, audio: { codec: 'aac' } });
    expect(joined.video?.durationMs).toBeGreaterThan(3_900);
  });
});

describe('what is refused', () => {
  test.each([
    ['a playlist', { _type: 'playlist', entries: [] }, 'PLAYLIST'],
    ['a live stream', { ...{ is_live: true }, title: 'x' }, 'LIVE'],
    ['a premiere', { live_status: 'is_upcoming' }, 'LIVE'],
    ['a video that is too long', { duration: 3601 }, 'TOO_LONG'],
    [
      'a private video',
      { raise: 'Private video. Sign in if you have been granted access to this video' },
      'PRIVATE',
    ],
    ['an age-restricted video', { raise: 'Sign in to confirm your age' }, 'AGE_RESTRICTED'],
    ['a copy-protected video', { formats: [{ url: 'http://video.example/x', has_drm: true }] }, 'PROTECTED'],
  ])('%s', async (_what, over, code) => {
    videos['a'] = video(over);
    expect(await failure('a')).toMatchObject({ code, retryable: false });
    expect(sent.body).toBe(0);
  });

  test('a video that is not there', async () => {
    expect(await failure('missing')).toMatchObject({ code: 'UNAVAILABLE', retryable: false });
  });

  test('a platform that is busy may be asked again', async () => {
    other = (_request, response) => void response.writeHead(429).end();
    expect(await failure('a')).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
    other = (_request, response) => void response.writeHead(503).end();
    expect(await failure('a')).toMatchObject({ code: 'NETWORK', retryable: true });
  });

  test('a page of no known platform', async () => {
    const error = await failure('a', { url: at('/elsewhere/v.mp4') });
    expect(error).toMatchObject({ code: 'NOT_A_PLATFORM' });
  });

  test('what is larger than the limit, however large it says it is', async () => {
    videos['a'] = video();
    other = (_request, response) => {
      const pour = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
      };
      response.on('drain', pour);
      pour();
    };
    expect(await failure('a', { maxBytes: 3_000_000 })).toMatchObject({
      code: 'TOO_LARGE',
      retryable: false,
    });
  });

  test('what is no video', async () => {
    await writeFile(join(media, 'page.html'), '<!doctype html><title>x</title>');
    videos['a'] = video({}, [{ ...whole, url: '/files/page.html' }]);
    await expect(fetching('a')).rejects.toMatchObject({ code: 'NOT_A_VIDEO' });
    expect(await readdir(folder)).toEqual([]);
  });

  test('a format whose name is an expression', async () => {
    videos['a'] = video({}, [{ ...whole, format_id: "x']/all[ext='mp4" } as { url: string }]);
    expect(await failure('a')).toMatchObject({ code: 'UNREADABLE' });
  });
});

describe('yt-dlp reaches no inner address', () => {
  test.each([
    ['as a format', (inner: string) => [{ ...whole, url: `${inner}/v.mp4` }]],
    ['by name', () => [{ ...whole, url: `http://localhost:${canary.port}/v.mp4` }]],
    ['by ftp', () => [{ ...whole, url: `ftp://127.0.0.1:${canary.port}/v.mp4`, protocol: 'http' }]],
    ['by a redirect', () => [{ ...whole, url: '/redirect.mp4' }]],
    ['as an HLS list', (inner: string) => [{ ...whole, url: `${inner}/l.m3u8`, protocol: 'm3u8_native' }]],
    ['as an HLS part', () => [{ ...whole, url: '/inner.m3u8', protocol: 'm3u8_native' }]],
    [
      'as an encrypted HLS list that only ffmpeg reads',
      () => [{ ...whole, url: '/sample-aes.m3u8', protocol: 'm3u8_native' }],
    ],
    ['as HLS by ffmpeg', (inner: string) => [{ ...whole, url: `${inner}/l.m3u8`, protocol: 'm3u8' }]],
    ['by rtmp', () => [{ ...whole, url: `rtmp://127.0.0.1:${canary.port}/live` }]],
    ['by rtsp', () => [{ ...whole, url: `rtsp://127.0.0.1:${canary.port}/live` }]],
    [
      'by websocket',
      () => [{ ...whole, url: `ws://127.0.0.1:${canary.port}/live`, protocol: 'websocket_frag' }],
    ],
    ['as a local file', () => [{ ...whole, url: 'file:///etc/passwd' }]],
  ])('%s', async (_how, formats) => {
    const inner = `http://127.0.0.1:${canary.port}`;
    videos['a'] = video({}, formats(inner) as { url: string }[]);
    other = (request, response) => {
      if (request.url === '/redirect.mp4') response.writeHead(302, { location: `${inner}/v.mp4` }).end();
      else {
        const key =
          request.url === '/sample-aes.m3u8' ? `#EXT-X-KEY:METHOD=SAMPLE-AES,URI="${inner}/key"\n` : '';
        response.end(
          `#EXTM3U\n#EXT-X-TARGETDURATION:4\n${key}#EXTINF:4,\n${inner}/part.ts\n#EXT-X-ENDLIST\n`,
        );
      }
    };
    expect((await failure('a')).retryable).toBe(false);
    expect(canary.hits).toEqual([]);
  });

  test('as the page itself', async () => {
    other = (_request, response) =>
      void response.writeHead(302, { location: `http://[::1]:${canary.port}/api/a` }).end();
    const error = await failure('a');
    expect(error).toMatchObject({ code: 'FORBIDDEN' });
    expect(error.message).toContain(`[::1]:${canary.port}`);
  });

  test('as the URL that is asked for', async () => {
    expect(await failure('a', { url: `http://127.0.0.1:${canary.port}/watch/a` })).toMatchObject({
      code: 'FORBIDDEN',
    });
  });
});

describe('time', () => {
  test('a platform that never answers is given up', async () => {
    other = () => undefined;
    const error = await failure('a', { timeoutMs: 2_500 });
    expect(error).toMatchObject({ code: 'TIME_LIMIT', retryable: true });
  });

  test('the caller can stop a download', async () => {
    videos['a'] = video();
    const abort = new AbortController();
    other = (_request, response) => {
      response.writeHead(200, { 'content-length': '1000000' }).write('x');
      abort.abort();
    };
    expect(await failure('a', {}, { signal: abort.signal })).toMatchObject({ code: 'ABORTED' });
  });
});

describe('which URLs are platforms’', () => {
  test('yt-dlp itself tells', async () => {
    const urls = platformUrls({ tools, ytDlp: await realYtDlp(), allow: [] });
    const { signal } = new AbortController();
    const answers = async (list: readonly string[]) =>
      Promise.all(list.map((url) => urls.isPlatformUrl(url, signal)));
    expect(
      await answers([
        'https://www.youtube.com/watch?v=dQw4w9WgXcQ',
        'https://youtu.be/dQw4w9WgXcQ#t=3',
        'https://vimeo.com/76979871',
        'https://www.tiktok.com/@tiktok/video/7106594312292453675',
      ]),
    ).toEqual([true, true, true, true]);
    expect(
      await answers([
        'https://example.com/v.mp4',
        'https://bucket.s3.amazonaws.com/a/v.mp4?X-Amz-Signature=1',
      ]),
    ).toEqual([false, false]);
  }, 30_000);
});
