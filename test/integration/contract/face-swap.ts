import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { Answer, FormPart } from './client.ts';
import { badUrls } from './clip-fields.ts';
import type { ContractSystem } from './contract-system.ts';
import { eachOf } from './create-clip.ts';
import { bodies, expectError, expectInvalid } from './expectations.ts';

const CENTS_PER_SECOND = 20;
const noVideo = 'A video_url or a video file via multipart form data must be provided.';

/** Sections 2.5, 4.4 and 4.5 of the interface: `POST /v1/face-swap` in its three forms, and its status. */
export function faceSwapContract(system: () => ContractSystem): void {
  const urls = (video = '12s.mov', face = 'face.jpg') => ({
    video_url: system().sources.url(video),
    face_image_url: system().sources.url(face),
  });
  const file = async (name: string): Promise<FormPart> => ({
    bytes: await readFile(system().sources.path(name)),
    fileName: name,
  });
  const asJson = (body: Record<string, unknown>, headers = {}) =>
    system().rich.post('/v1/face-swap', body, headers);
  const asForm = (parts: readonly (readonly [string, FormPart])[]) =>
    system().rich.form('/v1/face-swap', parts);

  describe('the three ways to give both sources', () => {
    test.concurrent('two URLs', async () => {
      expectCreated(await asJson(urls()), { mode: 'fullbody', seconds: 12 });
    });
    test.concurrent('two files', async () => {
      const parts = [
        ['video', await file('12s.mov')],
        ['face_image', await file('face.jpg')],
      ] as const;
      expectCreated(await asForm(parts), { mode: 'fullbody', seconds: 12 });
    });
    test.concurrent('a file and a URL, either way round, with the mode behind them', async () => {
      const { video_url, face_image_url } = urls();
      const video = [
        ['video', await file('12s.mov')],
        ['face_image_url', face_image_url],
        ['mode', 'face'],
      ] as const;
      expectCreated(await asForm(video), { mode: 'face', seconds: 12 });
      const image = [
        ['face_image', await file('face.png')],
        ['video_url', video_url],
      ] as const;
      expectCreated(await asForm(image), { mode: 'fullbody', seconds: 12 });
    });
  });

  test.concurrent('mode is face or fullbody, fullbody by default', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await asJson(urls(), headers);
    expectCreated(first, { mode: 'fullbody', seconds: 12 });
    expect((await asJson({ ...urls(), mode: 'fullbody' }, headers)).body).toEqual(first.body);
    expectCreated(await asJson({ ...urls(), mode: 'face' }), { mode: 'face', seconds: 12 });
    await eachOf(['Face', '', 'body', 1, true, null, [], {}], async (mode) =>
      expectInvalid(await asJson({ ...urls(), mode }), 'mode', ['face', 'fullbody']),
    );
    expectInvalid(await asForm([...Object.entries(urls()), ['mode', 'FACE']]), 'mode', ['face', 'fullbody']);
  });

  describe('both sources have to be there', () => {
    test.concurrent('400 in the words of the interface without a video', async () => {
      const { face_image_url } = urls();
      for (const body of [{ face_image_url }, {}]) expectError(await asJson(body), 400, noVideo);
      expectError(await asForm([['face_image_url', face_image_url]]), 400, noVideo);
      expectError(await asForm([['face_image', await file('face.jpg')]]), 400, noVideo);
    });
    test.concurrent('400 without a face image', async () => {
      const { video_url } = urls();
      expectInvalid(await asJson({ video_url }), 'face_image_url', ['face_image']);
      expectInvalid(await asForm([['video', await file('12s.mov')]]), 'face_image_url', ['face_image']);
    });
    test.concurrent('not twice', async () => {
      const parts = [['video', await file('12s.mov')], ...Object.entries(urls())] as const;
      expectInvalid(await asForm(parts), 'video_url', ['video']);
    });
    test.concurrent.each(['video_url', 'face_image_url'])(
      '%s must be a URL that may be fetched',
      async (field) => {
        await eachOf(badUrls, async (value) =>
          expectInvalid(await asJson({ ...urls(), [field]: value }), field, []),
        );
      },
    );
    test.concurrent('fields that are not in the tables are refused', async () => {
      expectInvalid(await asJson({ ...urls(), face_url: 'x' }), 'face_url', ['face_image_url']);
      expectInvalid(await asForm([...Object.entries(urls()), ['face', 'x']]), 'face', ['face_image']);
    });
  });

  describe('files', () => {
    test.concurrent.each(['9.03s.mp4', '12s.mov', '12s.webm', '12s.avi'])('%s is a video', async (name) => {
      const parts = [
        ['video', await file(name)],
        ['face_image', await file('face.jpg')],
      ] as const;
      expectCreated(await asForm(parts), { mode: 'fullbody', seconds: name.startsWith('9') ? 10 : 12 });
    });
    test.concurrent.each(['face.jpg', 'face.png', 'face.webp'])('%s is a face image', async (name) => {
      const parts = [
        ['video', await file('12s.mov')],
        ['face_image', await file(name)],
      ] as const;
      expectCreated(await asForm(parts), { mode: 'fullbody', seconds: 12 });
    });
    test.concurrent.each(['12s.mkv', 'page.mp4', 'face.jpg'])('%s is no video: 415', async (name) => {
      const parts = [
        ['video', await file(name)],
        ['face_image', await file('face.jpg')],
      ] as const;
      expect(expectError(await asForm(parts), 415)).toContain('mp4, mov, webm or avi');
    });
    test.concurrent('nobody.jpg shows no face: 400, and nothing is charged', async () => {
      const payer = await system().client({ cents: 1_000 });
      const parts = [
        ['video', await file('12s.mov')],
        ['face_image', await file('nobody.jpg')],
      ] as const;
      const refused = await payer.form('/v1/face-swap', parts);
      expect(expectError(refused, 400)).toContain('give a photo');
      expect(refused.body['details']).toMatchObject([{ path: 'face_image' }]);
      expect((await payer.get('/v1/wallet')).body).toMatchObject({
        balance_cents: 1_000,
        total_spent_cents: 0,
      });
    });
    test.concurrent.each(['face.gif', 'face.svg', '12s.mov'])('%s is no face image: 415', async (name) => {
      const parts = [
        ['face_image', await file(name)],
        ['video', await file('12s.mov')],
      ] as const;
      expect(expectError(await asForm(parts), 415)).toContain('jpg, png or webp');
    });
  });

  describe('the price', () => {
    test.concurrent('is 20 cents a second, rounded up', async () => {
      expectCreated(await asJson(urls('9.03s.mp4')), { mode: 'fullbody', seconds: 10 });
    });
    test.concurrent('300 s is the most; beyond it the duration and the limit are named', async () => {
      expectCreated(await asJson(urls('300.0s.mp4')), { mode: 'fullbody', seconds: 300 });
      const error = expectError(await asJson(urls('300.1s.mp4')), 400);
      expect(error).toContain('300.1');
      expect(error).toMatch(/\b300 s/);
    });
    test.concurrent('402 with both sums when the balance is below it', async () => {
      const poor = await system().client({ cents: 500 });
      const answer = await poor.post('/v1/face-swap', urls('300.0s.mp4'));
      expect([answer.status, answer.body]).toEqual([
        402,
        { error: 'Insufficient wallet balance', required_cents: 6_000, balance_cents: 500 },
      ]);
      expect((await poor.get('/v1/wallet')).body).toMatchObject({ balance_cents: 500, total_spent_cents: 0 });
    });
    test.concurrent('is taken at once', async () => {
      const payer = await system().client({ cents: 1_000 });
      expectCreated(await payer.post('/v1/face-swap', urls()), { mode: 'fullbody', seconds: 12 });
      expect((await system().elsewhere(payer).get('/v1/wallet')).body).toMatchObject({
        balance_cents: 760,
        total_spent_cents: 240,
      });
    });
  });

  test.concurrent.each(['nothing.mp4', 'page.mp4', 'empty.mp4'])(
    'a URL of %s is a 422 that says why',
    async (name) => {
      expectError(await asJson(urls(name)), 422);
    },
  );

  test.concurrent('the same request under an Idempotency-Key is charged once, another is a 422', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await asJson(urls(), headers);
    const again = await system().elsewhere(system().rich).post('/v1/face-swap', urls(), headers);
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
    expectError(await asJson({ ...urls(), mode: 'face' }, headers), 422);
  });

  test('status: processing with a percentage, then failed with an error and the money back', async () => {
    const payer = await system().client({ cents: 1_000 });
    const jobId = expectCreated(await payer.post('/v1/face-swap', urls()), { mode: 'fullbody', seconds: 12 });
    const processing = await system().elsewhere(payer).get(`/v1/face-swap/${jobId}`);
    expect(bodies.swapProcessing.parse(processing.body)).toMatchObject({ job_id: jobId });
    expect(Number(processing.headers.get('retry-after'))).toBeGreaterThanOrEqual(5);
    await system().failSwap(jobId, 'There is no face in the video.');
    const failed = await system().untilJob(
      payer,
      `/v1/face-swap/${jobId}`,
      ({ status }) => status === 'failed',
    );
    expect(bodies.swapFailed.parse(failed.body)).toMatchObject({ error: 'There is no face in the video.' });
    expect((await payer.get('/v1/wallet')).body).toMatchObject({
      balance_cents: 1_000,
      total_spent_cents: 0,
    });
  });

  test('status: completed with a URL that works', async () => {
    const { rich } = system();
    const jobId = expectCreated(await asJson(urls()), { mode: 'fullbody', seconds: 12 });
    await system().completeSwap(jobId);
    const path = `/v1/face-swap/${jobId}`;
    const completed = await system().untilJob(rich, path, ({ status }) => status === 'completed');
    const { download_url } = bodies.swapCompleted.parse(completed.body);
    expect(new URL(download_url).searchParams.get('X-Amz-Expires')).toBe(String(7 * 86_400));
    const result = await fetch(download_url);
    expect([result.status, result.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    await result.arrayBuffer();
    const stranger = await system().client();
    expectError(await stranger.get(path), 404, 'Job not found');
    expectError(await rich.get(`/v1/clip/${jobId}`), 404, 'Job not found');
  });

  test.concurrent.each(['00000000-0000-4000-8000-000000000000', 'x', '%20'])(
    'there is no swap %s',
    async (id) => {
      expectError(await system().rich.get(`/v1/face-swap/${id}`), 404, 'Job not found');
    },
  );
}

function expectCreated(answer: Answer, { mode, seconds }: { mode: string; seconds: number }): string {
  expect([answer.status, answer.body]).toEqual([
    202,
    {
      job_id: expect.any(String),
      mode,
      duration_seconds: seconds,
      cost_cents: seconds * CENTS_PER_SECOND,
      status: 'processing',
    },
  ]);
  const { job_id } = bodies.swapCreated.parse(answer.body);
  expect(answer.headers.get('location')).toBe(`/v1/face-swap/${job_id}`);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(5);
  return job_id;
}
