import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { startEgressProxy } from '#infra/egress/egress-proxy.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { platformUrls } from '#infra/sources/platform-urls.ts';
import { openSourceAccess, type SourceAccess } from '#infra/sources/source-access.ts';
import { ytDlpWithTestPlatform } from '#test/unit/sources/test-platform.ts';
import { fetchSource, sourceNameOf } from '#workers/clip/fetch-source.ts';

const log = pino({ level: 'silent' });
const mp4 = Buffer.concat([Buffer.from([0, 0, 0, 32]), Buffer.from('ftypisom'), Buffer.alloc(2_000)]);

let pages: Record<string, readonly [number, string | Buffer]>;
let folder: string;
let server: Server;
let port: number;
let sources: SourceAccess | undefined;

beforeEach(async () => {
  pages = {
    '/talk.mp4': [200, mp4],
    '/watch': [200, '<!doctype html><title>A video page</title>'],
    '/list.mp4': [200, '#EXTM3U\nfile:///etc/passwd'],
    '/song.mp4': [200, 'ID3\x04'],
    '/empty.mp4': [200, ''],
  };
  folder = await mkdtemp(join(tmpdir(), 'fetch-'));
  server = createServer((request, response) => {
    const [status, body] = pages[request.url ?? ''] ?? [404, 'not here'];
    response.writeHead(status).end(body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  port = (server.address() as AddressInfo).port;
});

afterEach(async () => {
  await sources?.close();
  sources = undefined;
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await rm(folder, { recursive: true, force: true });
});

async function openedSources(settings: Record<string, string>): Promise<SourceAccess> {
  sources = await openSourceAccess(parseConfig({ PATH: process.env['PATH'], ...settings }), log);
  return sources;
}

/** The test's own hosting platform, by the real yt-dlp through a real proxy. */
async function platformSources(): Promise<SourceAccess> {
  const allow = [`video.example:${port}`];
  const tools = await locateMediaTools({}, process.env['PATH'] ?? '');
  const ytDlp = await ytDlpWithTestPlatform();
  const proxy = await startEgressProxy({ allow, resolve: async () => ['127.0.0.1'] });
  const urls = platformUrls({ tools, ytDlp, allow });
  sources = { tools, ytDlp, proxy, urls, allow, close: () => proxy.close() };
  return sources;
}

function fetching(url: string, access: SourceAccess) {
  return fetchSource(
    { url, maxBytes: 10_000, timeoutMs: 30_000 },
    {
      taskFolder: folder,
      signal: new AbortController().signal,
      onProgress: () => undefined,
      maxSourceDurationMs: 60_000,
    },
    access,
  );
}

async function failure(url: string, access: SourceAccess): Promise<MediaFailure> {
  const error = await fetching(url, access).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MediaFailure);
  return error as MediaFailure;
}

describe('a direct link', () => {
  const direct = (path: string) => `http://127.0.0.1:${port}${path}`;
  const allowed = () => openedSources({ EGRESS_ALLOW: `127.0.0.1:${port}` });

  test('to a video lands in the task folder', async () => {
    expect(await fetching(direct('/talk.mp4'), await allowed())).toEqual({
      path: join(folder, 'source'),
      contentType: 'video/mp4',
      title: null,
    });
  });

  test.each([
    ['/watch', 'NOT_A_VIDEO', /web page.*direct link/],
    ['/list.mp4', 'NOT_A_VIDEO', /playlist/],
    ['/song.mp4', 'NOT_A_VIDEO', /audio file/],
    ['/empty.mp4', 'NOT_A_VIDEO', /not a video file/],
    ['/gone.mp4', 'SOURCE_NOT_FOUND', /answered 404/],
  ])('%s fails for good with one clear sentence', async (path, code, sentence) => {
    const error = await failure(direct(path), await allowed());
    expect(error).toMatchObject({ code, retryable: false });
    expect(error.message).toMatch(sentence);
  });

  test('to an inner address is refused unless the operator allows it', async () => {
    const error = await failure(direct('/talk.mp4'), await openedSources({}));
    expect(error).toMatchObject({ code: 'SOURCE_FORBIDDEN', retryable: false });
  });
});

describe('a hosting platform’s page', { timeout: 60_000 }, () => {
  const watch = () => `http://video.example:${port}/watch/a`;
  const video = () => ({
    title: 'A talk: what is it?',
    url: `http://video.example:${port}/talk.mp4`,
    ext: 'mp4',
    vcodec: 'avc1',
    acodec: 'mp4a',
    format_id: '18',
    duration: 20,
  });
  const says = (about: object) => {
    pages['/api/a'] = [200, JSON.stringify({ ...video(), ...about })];
  };

  test('gives its video, and the title by which people know it', async () => {
    says({});
    expect(await fetching(watch(), await platformSources())).toEqual({
      path: join(folder, 'source'),
      contentType: 'video/mp4',
      title: 'A talk: what is it?',
    });
    expect(await readdir(folder)).toEqual(['source']);
  });

  test.each([
    ['too long', { duration: 61 }, 'SOURCE_TOO_LONG', false],
    ['private', { raise: 'This video is private' }, 'SOURCE_REFUSED', false],
    ['gone', { raise: 'This video has been removed' }, 'SOURCE_NOT_FOUND', false],
    ['busy', { raise: 'HTTP Error 429: Too Many Requests' }, 'SOURCE_UNREACHABLE', true],
    ['a way inside', { url: 'http://127.0.0.1:9/talk.mp4' }, 'SOURCE_FORBIDDEN', false],
  ])('that is %s fails with the platform’s reason', async (_, about, code, retryable) => {
    says(about);
    expect(await failure(watch(), await platformSources())).toMatchObject({ code, retryable });
  });

  test('without yt-dlp can be tried again, by a worker that has it', async () => {
    const none = await openedSources({ YT_DLP_VENV: '/nonexistent' });
    const error = await failure('https://www.youtube.com/watch?v=aaaaaaaaaaa', none);
    expect(error).toMatchObject({ code: 'SOURCE_UNREACHABLE', retryable: true });
    expect(error.message).toMatch(/hosting platforms.*direct link/);
  });
});

test.each([
  ['https://example.com/videos/board_meeting.mp4?token=secret', 'board_meeting.mp4'],
  ['https://example.com/', ''],
  ['nonsense', ''],
])('the name in %s is "%s"', (url, name) => {
  expect(sourceNameOf(url)).toBe(name);
});
