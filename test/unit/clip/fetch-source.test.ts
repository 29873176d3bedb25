import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { fetchSource, sourceNameOf } from '#workers/clip/fetch-source.ts';

const mp4 = Buffer.concat([Buffer.from([0, 0, 0, 32]), Buffer.from('ftypisom'), Buffer.alloc(2_000)]);
const pages: Readonly<Record<string, readonly [number, string | Buffer]>> = {
  '/talk.mp4': [200, mp4],
  '/watch': [200, '<!doctype html><title>A video page</title>'],
  '/list.mp4': [200, '#EXTM3U\nfile:///etc/passwd'],
  '/song.mp4': [200, 'ID3\x04'],
  '/empty.mp4': [200, ''],
};

let folder: string;
let server: Server;
let origin: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fetch-'));
  server = createServer((request, response) => {
    const [status, body] = pages[request.url ?? ''] ?? [404, 'not here'];
    response.writeHead(status).end(body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  origin = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await rm(folder, { recursive: true, force: true });
});

function fetching(path: string, egressAllow: readonly string[] = [origin]) {
  return fetchSource(
    { url: `http://${origin}${path}`, egressAllow, maxBytes: 10_000, timeoutMs: 5_000 },
    { taskFolder: folder, signal: new AbortController().signal, onProgress: () => undefined },
  );
}

async function failure(path: string, egressAllow?: readonly string[]): Promise<MediaFailure> {
  const error = await fetching(path, egressAllow).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MediaFailure);
  return error as MediaFailure;
}

describe('fetching a source', () => {
  test('a direct link to a video lands in the task folder', async () => {
    const source = await fetching('/talk.mp4');
    expect(source).toMatchObject({
      path: join(folder, 'source'),
      bytes: mp4.length,
      contentType: 'video/mp4',
    });
    expect(source.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each([
    ['/watch', 'NOT_A_VIDEO', /web page.*direct link/],
    ['/list.mp4', 'NOT_A_VIDEO', /playlist/],
    ['/song.mp4', 'NOT_A_VIDEO', /audio file/],
    ['/empty.mp4', 'NOT_A_VIDEO', /not a video file/],
    ['/gone.mp4', 'SOURCE_NOT_FOUND', /answered 404/],
  ])('%s fails for good with one clear sentence', async (path, code, sentence) => {
    const error = await failure(path);
    expect(error).toMatchObject({ code, retryable: false });
    expect(error.message).toMatch(sentence);
  });

  test('an inner address is refused unless the operator allows it', async () => {
    expect(await failure('/talk.mp4', [])).toMatchObject({ code: 'SOURCE_FORBIDDEN', retryable: false });
  });
});

test.each([
  ['https://example.com/videos/board_meeting.mp4?token=secret', 'board_meeting.mp4'],
  ['https://example.com/', ''],
  ['nonsense', ''],
])('the name in %s is "%s"', (url, name) => {
  expect(sourceNameOf(url)).toBe(name);
});
