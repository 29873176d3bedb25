import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeFaceImage, makeFacelessImage } from '#test/stack/sample-face.ts';
import { lyingCopy, makeVideo } from '#test/unit/media/lying-videos.ts';
import { fileAnswers } from '#test/unit/sources/file-server.ts';

const run = promisify(execFile);

/** Videos and images for face swaps, on disk and on a web server that an API must be let into. */
export type SwapSources = Readonly<{
  /** `host:port`, for `EGRESS_ALLOW`. */
  host: string;
  /** The URL of a file; `plain` is a server that knows no ranges. */
  url: (name: string, server?: 'ranges' | 'plain') => string;
  path: (name: string) => string;
  /** How many requests there were. */
  requests: () => number;
  close: () => Promise<void>;
}>;

/** Makes them all: each name says what it is. */
export async function openSwapSources(): Promise<SwapSources> {
  const folder = await mkdtemp(join(tmpdir(), 'swap-sources-'));
  const path = (name: string) => join(folder, name);
  await mkdir(folder, { recursive: true });
  await Promise.all([makeVideos(path), makeImages(path)]);
  let requests = 0;
  const answers = {
    ranges: fileAnswers(folder, { body: 0, ranges: [] }, { ranges: true }),
    plain: fileAnswers(folder, { body: 0, ranges: [] }, { ranges: false }),
  };
  const answer: RequestListener = (request, response) => {
    requests += 1;
    const url = request.url ?? '/';
    if (url.startsWith('/silent/')) return;
    if (url.startsWith('/moved?to='))
      return void response.writeHead(302, { location: decodeURIComponent(url.slice(10)) }).end();
    answers[url.startsWith('/plain/') ? 'plain' : 'ranges'](request, response);
  };
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: (name, kind = 'ranges') => `http://${host}/${kind}/${encodeURIComponent(name)}?token=secret`,
    path,
    requests: () => requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function makeVideos(path: (name: string) => string): Promise<void> {
  await Promise.all([
    makeVideo(path('9.03s.mp4'), 9.03, { rate: 100 }),
    makeVideo(path('12s.mov'), 12),
    makeVideo(path('12s.webm'), 12),
    makeVideo(path('12s.avi'), 12),
    makeVideo(path('12s.mkv'), 12),
  ]);
  await makeVideo(path('300.0s.mp4'), 300);
  await makeVideo(path('300.1s.mp4'), 300.1);
  await lyingCopy(path('300.1s.mp4'), path('300.1s-says-1s.mp4'), 1);
  await lyingCopy(path('12s.mov'), path('12s-says-1s.mov'), 1);
  await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'sine=d=2', path('sound.m4v')]);
  await writeFile(path('page.mp4'), '<!doctype html><title>No video</title>');
  await writeFile(path('empty.mp4'), '');
}

async function makeImages(path: (name: string) => string): Promise<void> {
  for (const name of ['face.jpg', 'face.png', 'face.webp', 'face.gif']) await makeFaceImage(path(name));
  await makeFacelessImage(path('nobody.jpg'));
  await writeFile(path('face.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
}
