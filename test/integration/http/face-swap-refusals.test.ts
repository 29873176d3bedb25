import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCanary } from '#test/unit/egress/canary.ts';
import type { ApiInstance } from '../api-fixture.ts';
import { type FormPart, file, formOf, mp4Like, text } from './form.ts';
import { maxBytes, SwapSystem } from './swap-system.ts';

/** What is wrong with an order of a face swap, on the real system: each with its status and a sentence. */

let system: SwapSystem;
let api: ApiInstance;

beforeAll(async () => {
  const [opened, [only]] = await SwapSystem.open(1);
  if (only === undefined) throw new Error('There is no instance.');
  system = opened;
  api = only;
});
afterAll(() => system?.close());

describe('a request that is wrong is refused with 400', () => {
  const both = { video_url: 'https://example.com/v.mp4', face_image_url: 'https://example.com/f.jpg' };
  const noVideo = 'A video_url or a video file via multipart form data must be provided.';

  test.each<[string, unknown, string]>([
    ['nothing', undefined, noVideo],
    ['no video', { face_image_url: both.face_image_url }, noVideo],
    [
      'no face image',
      { video_url: both.video_url },
      'A face_image_url or a face_image file via multipart form data must be provided.',
    ],
    ['a list', [], 'The body must be an object with the fields video_url, face_image_url, mode'],
    ['an unknown field', { ...both, modus: 'face' }, 'modus is not known'],
    ['a mode that does not exist', { ...both, mode: 'body' }, 'mode must be one of face, fullbody.'],
    ['a mode in capitals', { ...both, mode: 'Face' }, 'mode must be one of face, fullbody.'],
    ['a mode of another type', { ...both, mode: null }, 'mode must be one of face, fullbody.'],
    ['a video URL of another type', { ...both, video_url: 7 }, 'video_url must be a string with a URL'],
    ['an empty video URL', { ...both, video_url: '' }, 'video_url cannot be used: the URL is not valid.'],
    [
      'another scheme',
      { ...both, video_url: 'file:///etc/passwd' },
      'video_url cannot be used: the URL must start',
    ],
    ['a private address', { ...both, video_url: 'http://10.0.0.1/v.mp4' }, 'not on the public internet'],
    [
      'a metadata address for the face',
      { ...both, face_image_url: 'http://169.254.169.254/latest' },
      'face_image_url cannot be used',
    ],
    [
      'a decimal address',
      { ...both, face_image_url: 'http://2130706433/f.jpg' },
      'face_image_url cannot be used',
    ],
    [
      'credentials',
      { ...both, video_url: 'https://me:secret@example.com/v.mp4' },
      'must not contain a user name',
    ],
  ])('%s', async (_what, body, says) => {
    const answer = await system.postJson(api, body);
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(says) } });
    const [first] = answer.body['details'] as { path: string; message: string }[];
    expect(first?.message).toBe(answer.body['error']);
  });

  test('a file and a URL for the same thing, whichever comes first', async () => {
    const video = file('video', mp4Like(2_000));
    const face = await system.fileOf('face.jpg', 'face_image');
    for (const parts of [
      [text('video_url', both.video_url), video, face],
      [video, face, text('video_url', both.video_url)],
    ])
      expect(await system.postForm(api, formOf(parts))).toMatchObject({
        status: 400,
        body: { error: 'video_url cannot be sent beside a video file; send one of the two.' },
      });
    const faces = [text('face_image_url', both.face_image_url), video, face];
    expect(await system.postForm(api, formOf(faces))).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('beside a face_image file') },
    });
  });

  test.each<[string, readonly FormPart[], string]>([
    ['an empty file', [file('video', Buffer.alloc(0))], 'video is an empty file'],
    ['an unknown field', [text('modus', 'face')], 'modus is not known'],
    ['an unknown file', [file('image', mp4Like(100))], 'image is not known'],
    ['a wrong mode', [text('mode', 'body')], 'mode must be one of face, fullbody.'],
    ['no video', [text('face_image_url', both.face_image_url)], noVideo],
    ['a file where text belongs', [file('video_url', mp4Like(100))], 'video_url must be text, not a file.'],
  ])('%s in a form', async (_what, parts, says) => {
    expect(await system.postForm(api, formOf(parts))).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(says) },
    });
  });

  test('an uploaded face image without a face, in the words that say what photo would do', async () => {
    const nobody = await system.fileOf('nobody.jpg', 'face_image');
    const answers = [
      await system.postForm(api, formOf([await system.fileOf('9.03s.mp4', 'video'), nobody])),
      await system.postForm(api, formOf([text('video_url', system.sources.url('9.03s.mp4')), nobody])),
    ];
    const message = expect.stringMatching(/^No face was found in the face image: give a photo of one face/);
    for (const answer of answers)
      expect(answer).toMatchObject({
        status: 400,
        body: { error: message, details: [{ path: 'face_image', message }] },
      });
  });

  test('an uploaded face image that is damaged', async () => {
    const whole = await readFile(system.sources.path('face.jpg'));
    const half = file('face_image', whole.subarray(0, whole.length / 2), 'half.jpg');
    const form = formOf([text('video_url', system.sources.url('9.03s.mp4')), half]);
    expect(await system.postForm(api, form)).toMatchObject({
      status: 400,
      body: { error: 'The face image is damaged and cannot be read.', details: [{ path: 'face_image' }] },
    });
  });

  test("the video's fault is told before that of the face image", async () => {
    const nobody = await system.fileOf('nobody.jpg', 'face_image');
    const form = formOf([text('video_url', system.sources.url('300.1s.mp4')), nobody]);
    expect(await system.postForm(api, form)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('300.1 s long') },
    });
  });

  test('a redirect to an inner address, which is not asked', async () => {
    const canary = await startCanary();
    const inner = `http://127.0.0.1:${canary.port}/v.mp4`;
    const moved = `http://${system.sources.host}/moved?to=${encodeURIComponent(inner)}`;
    for (const body of [
      { ...system.urls('9.03s.mp4'), video_url: moved },
      { ...system.urls('9.03s.mp4'), face_image_url: moved },
    ])
      expect(await system.postJson(api, body)).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('not on the public internet') },
      });
    expect(canary.connections()).toBe(0);
    await canary.close();
  });
});

describe('a file is refused', () => {
  test.each([
    ['video', '12s.mkv', 'mp4, mov, webm or avi'],
    ['video', 'page.mp4', 'mp4, mov, webm or avi'],
    ['video', 'face.jpg', 'mp4, mov, webm or avi'],
    ['face_image', 'face.gif', 'jpg, png or webp'],
    ['face_image', 'face.svg', 'jpg, png or webp'],
    ['face_image', '9.03s.mp4', 'jpg, png or webp'],
  ])('415: as %s, %s, judged by its content', async (field, name, formats) => {
    const answer = await system.postForm(api, formOf([await system.fileOf(name, field)]));
    expect(answer).toMatchObject({ status: 415, body: { error: expect.stringContaining(formats) } });
  });

  test.each(['video', 'face_image'])('413: a %s over the limit', async (field) => {
    const content = field === 'video' ? mp4Like(maxBytes + 1) : Buffer.alloc(maxBytes + 1, 0xff);
    if (field === 'face_image') (await readFile(system.sources.path('face.jpg'))).copy(content);
    const answer = await system.postForm(api, formOf([file(field, content)]));
    expect(answer).toMatchObject({
      status: 413,
      body: { error: `${field} is larger than the limit of ${maxBytes} bytes.` },
    });
  });
});

describe('a source that cannot be used is refused with 422 and the reason', () => {
  test.each<[string, () => Record<string, string>, RegExp]>([
    ['a page for a video', () => system.urls('page.mp4'), /is a web page, not a video file/],
    ['sound alone', () => system.urls('sound.m4v'), /has sound but no picture/],
    ['an image for a video', () => system.urls('face.jpg'), /is an image, not a video/],
    ['no such video', () => system.urls('nothing.mp4'), /no video at this URL: 127\.0\.0\.1 answered 404/],
    ['no such face image', () => system.urls('9.03s.mp4', 'nothing.jpg'), /no face image at this URL/],
    [
      'a GIF for a face image',
      () => system.urls('9.03s.mp4', 'face.gif'),
      /not an image of type jpg, png or webp/,
    ],
    ['a video for a face image', () => system.urls('9.03s.mp4', '9.03s.mp4'), /not an image of type/],
    ['an empty face image', () => system.urls('9.03s.mp4', 'empty.mp4'), /not an image of type/],
    [
      'a host that does not exist',
      () => ({ ...system.urls('9.03s.mp4'), video_url: 'https://nowhere.invalid/v.mp4' }),
      /nowhere\.invalid/,
    ],
  ])('%s', async (_what, body, says) => {
    const answer = await system.postJson(api, body());
    expect(answer).toMatchObject({ status: 422, body: { error: expect.stringMatching(says) } });
    expect(JSON.stringify(answer.body)).not.toContain('secret');
  });

  test('a server that never answers, after a time', async () => {
    const hasty = await system.fixture.startApi({ PROBE_TIME_LIMIT: '1s' });
    expect(
      await system.postJson(hasty, { ...system.urls('9.03s.mp4'), video_url: system.silentUrl }),
    ).toMatchObject({
      status: 422,
      body: { error: "Finding out the video's length took longer than 1 s." },
    });
    await hasty.stop();
  });

  test('an uploaded video that cannot be read', async () => {
    const face = await system.fileOf('face.jpg', 'face_image');
    expect(await system.postForm(api, formOf([file('video', mp4Like(50_000)), face]))).toMatchObject({
      status: 422,
      body: { error: 'The video is damaged or cannot be decoded.' },
    });
    expect(
      await system.postForm(api, formOf([await system.fileOf('sound.m4v', 'video'), face])),
    ).toMatchObject({
      status: 415,
    });
  });

  test('a video that is larger than its server may send', async () => {
    const small = await system.fixture.startApi({ FACE_SWAP_MAX_BYTES: '10000' });
    for (const server of ['ranges', 'plain'] as const)
      expect(
        await system.postJson(small, {
          ...system.urls('9.03s.mp4', 'face.jpg'),
          video_url: system.sources.url('9.03s.mp4', server),
        }),
      ).toMatchObject({ status: 422, body: { error: expect.stringContaining('larger than the limit') } });
    await small.stop();
  });
});

test('nothing of it was charged, and no upload stayed', async () => {
  expect(await system.debitsOf(system.rich)).toEqual([]);
  expect(await system.uploadsOf()).toEqual([]);
});
