import { once } from 'node:events';
import { copyFile, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SwapSource } from '#api/http/face-swap-request.ts';
import { type QuoteService, quoteFaceSwap } from '#api/http/quote-face-swap.ts';
import { Turns } from '#api/http/turns.ts';
import { UploadGate } from '#api/http/uploads/upload-gate.ts';
import { parseConfig } from '#infra/config.ts';
import { startEgressProxy } from '#infra/egress/egress-proxy.ts';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { StorageFailure } from '#infra/object-storage/storage-failure.ts';
import { platformUrls } from '#infra/sources/platform-urls.ts';
import type { SourceAccess } from '#infra/sources/source-access.ts';
import { makeFaceImage, makeFacelessImage } from '#test/stack/sample-face.ts';
import { makeVideo } from '#test/unit/media/lying-videos.ts';
import { ytDlpWithTestPlatform } from '#test/unit/sources/test-platform.ts';

/** The hosting platform is the tests' own, seen by the real yt-dlp through the real egress proxy. */

// Each look at a platform starts Python twice, which takes many seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
let server: Server;
let sources: SourceAccess;
let bytesRead = 0;

/** What the platform says of its videos, by id. */
const videos: Readonly<Record<string, object>> = {
  fine: { duration: 9.03 },
  limit: { duration: 300 },
  long: { duration: 300.1 },
  silent: {},
  live: { is_live: true },
  private: { raise: 'This is a private video' },
};
const playable = () => ({ title: 'A video', url: `http://${host()}/v.mp4`, format_id: '18', ext: 'mp4' });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quote-'));
  await makeVideo(join(folder, '12s.mp4'), 12);
  await makeFaceImage(join(folder, 'face.jpg'));
  await makeFacelessImage(join(folder, 'nobody.jpg'));
  server = createServer((request, response) => {
    const id = /^\/api\/(\w+)/.exec(request.url ?? '')?.[1] ?? '';
    response.end(JSON.stringify({ ...playable(), ...videos[id] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const allow = [host()];
  const tools = await locateMediaTools({}, process.env['PATH'] ?? '');
  const ytDlp = await ytDlpWithTestPlatform();
  const proxy = await startEgressProxy({ allow, resolve: async () => ['127.0.0.1'] });
  const urls = platformUrls({ tools, ytDlp, allow });
  sources = { tools, ytDlp, proxy, urls, allow, close: () => proxy.close() };
});

afterAll(async () => {
  await sources?.close();
  server?.closeAllConnections();
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

const host = () => `video.example:${(server.address() as AddressInfo).port}`;
const platformVideo = (id: string): SwapSource => ({ url: `http://${host()}/watch/${id}` });

/** An upload; the objects of the storage are the files of the folder. */
const uploaded = (objectKey: string, contentType: string, byteCount = 100): SwapSource => ({
  file: {
    field: 'video',
    objectKey,
    fileName: null,
    sha256: '',
    byteCount,
    type: { kind: 'video', contentType, demuxer: 'mov' },
  },
});
/** Too large to be examined before the job. */
const largeFace = uploaded('face.jpg', 'image/jpeg', 64 * 1024 ** 2 + 1);

async function getRange(key: string, { start, end }: { start: number; end: number }): Promise<Buffer> {
  if (key === 'lost.mp4') throw new StorageFailure('UNAVAILABLE', 'The storage is down.');
  const file = await open(join(folder, key));
  const { buffer, bytesRead: count } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
  await file.close();
  bytesRead += count;
  return buffer.subarray(0, count);
}

async function getToFile(key: string, path: string) {
  if (key === 'lost.jpg') throw new StorageFailure('UNAVAILABLE', 'The storage is down.');
  await copyFile(join(folder, key), path);
}

function service(over: Partial<QuoteService> = {}): QuoteService {
  return {
    config: parseConfig({ DATA_DIR: folder }),
    log: pino({ level: 'silent' }),
    sources,
    storage: { getRange, getToFile } as unknown as QuoteService['storage'],
    probes: new Turns({ atOnce: 1, ofTeam: 1, waiting: 1 }),
    examinations: new Turns({ atOnce: 1, ofTeam: 1, waiting: 1 }),
    uploads: new UploadGate(1, 1),
    ...over,
  };
}

function quote(video: SwapSource, over: Partial<QuoteService> = {}, signal = new AbortController().signal) {
  const request = { mode: 'face', video, faceImage: largeFace, callbackUrl: null } as const;
  return quoteFaceSwap(request, 1, service(over), signal);
}

/** Of an order whose files were both uploaded. */
async function quoteOfUploads(video: string, face: string, over: Partial<QuoteService> = {}) {
  const { size } = await stat(join(folder, video));
  const [uploadedVideo, faceImage] = [uploaded(video, 'video/mp4', size), uploaded(face, 'image/jpeg')];
  const request = { mode: 'face', video: uploadedVideo, faceImage, callbackUrl: null } as const;
  return quoteFaceSwap(request, 1, service(over), new AbortController().signal);
}

describe('the length of a video on a hosting platform', () => {
  test('is what the platform says, rounded up', async () => {
    expect(await quote(platformVideo('fine'))).toEqual({ durationSeconds: 10 });
    expect(await quote(platformVideo('limit'))).toEqual({ durationSeconds: 300 });
  });

  test('over the limit is refused with both', async () => {
    expect(await quote(platformVideo('long'))).toMatchObject({
      refused: {
        status: 400,
        body: { error: 'The video is 300.1 s long; a face swap takes at most 300 s.' },
      },
    });
  });

  test.each([
    ['silent', /does not say how long the video is.*direct link/],
    ['live', /is a live stream/],
    ['private', /is private/],
  ])('that cannot be known is refused with the reason (%s)', async (id, says) => {
    expect(await quote(platformVideo(id))).toMatchObject({
      refused: { status: 422, body: { error: expect.stringMatching(says) } },
    });
  });

  test('is not found out where there is no yt-dlp', async () => {
    const without = { ...sources, ytDlp: undefined };
    expect(await quote(platformVideo('fine'), { sources: without })).toMatchObject({
      refused: { status: 422, body: { error: expect.stringContaining('give a direct link') } },
    });
  });
});

describe('an uploaded video', () => {
  test('is read where it lies', async () => {
    const { size } = await stat(join(folder, '12s.mp4'));
    expect(await quote(uploaded('12s.mp4', 'video/mp4', size))).toEqual({ durationSeconds: 12 });
    expect(bytesRead).toBeGreaterThan(0);
  });

  test('that the storage does not give is no fault of the client', async () => {
    expect(await quote(uploaded('lost.mp4', 'video/mp4'))).toMatchObject({ refused: { status: 503 } });
  });
});

describe('an uploaded face image', () => {
  test('with a face that can be used is taken', async () => {
    expect(await quoteOfUploads('12s.mp4', 'face.jpg')).toEqual({ durationSeconds: 12 });
  });

  test('without one is refused, with what photo would do', async () => {
    const message = expect.stringMatching(/^No face was found in the face image: give a photo/);
    expect(await quoteOfUploads('12s.mp4', 'nobody.jpg')).toMatchObject({
      refused: { status: 400, body: { error: message, details: [{ path: 'face_image', message }] } },
    });
  });

  test('that is none is refused', async () => {
    expect(await quoteOfUploads('12s.mp4', '12s.mp4')).toMatchObject({
      refused: { status: 400, body: { error: expect.stringContaining('jpg, png and webp are supported') } },
    });
  });

  test("is told of after the video's fault", async () => {
    const config = parseConfig({ DATA_DIR: folder, FACE_SWAP_MAX_DURATION: '5s' });
    expect(await quoteOfUploads('12s.mp4', 'nobody.jpg', { config })).toMatchObject({
      refused: { status: 400, body: { details: [{ path: 'video' }] } },
    });
  });

  test('that the storage does not give is no fault of the client', async () => {
    expect(await quoteOfUploads('12s.mp4', 'lost.jpg')).toMatchObject({ refused: { status: 503 } });
  });

  test('that cannot be examined, for a reason of our own, is left to the worker', async () => {
    const withoutModels = parseConfig({ DATA_DIR: folder, MODELS_DIR: join(folder, 'nothing') });
    expect(await quoteOfUploads('12s.mp4', 'nobody.jpg', { config: withoutModels })).toEqual({
      durationSeconds: 12,
    });
    const examinations = new Turns({ atOnce: 0, ofTeam: 1, waiting: 0 });
    expect(await quoteOfUploads('12s.mp4', 'nobody.jpg', { examinations })).toEqual({ durationSeconds: 12 });
  });

  test('that ends with the client or the process is not charged for', async () => {
    const uploads = new UploadGate(1, 1);
    const examinations = new Turns({ atOnce: 0, ofTeam: 1, waiting: 1 });
    const looking = quoteOfUploads('12s.mp4', 'face.jpg', { uploads, examinations });
    setImmediate(() => uploads.stop());
    expect(await looking).toMatchObject({ refused: { status: 503 } });
  });
});

describe('looking at sources', () => {
  const waiting = () => new Promise<never>(() => undefined);

  test('waits for its turn no longer than for the look itself', async () => {
    const busy = service({ config: parseConfig({ DATA_DIR: folder, PROBE_TIME_LIMIT: '50ms' }) });
    void busy.probes.take(1, new AbortController().signal, waiting);
    expect(await quote(platformVideo('fine'), busy)).toMatchObject({
      refused: { status: 503, body: { error: expect.stringContaining('Too many videos') } },
    });
  });

  test('ends when the client is gone, or the process', async () => {
    expect(await quote(platformVideo('fine'), {}, AbortSignal.abort())).toMatchObject({
      refused: { status: 503 },
    });
    const uploads = new UploadGate(1, 1);
    const looking = quote(platformVideo('fine'), { uploads });
    uploads.stop();
    expect(await looking).toMatchObject({
      refused: { status: 503, body: { error: expect.stringContaining('stopping') } },
    });
  });
});
