import { randomUUID } from 'node:crypto';
import { copyFile, readFile, rename } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faceSwapResponseBody } from '#api/http/face-swap-request.ts';
import { parseConfig } from '#infra/config.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { startCanary } from '#test/unit/egress/canary.ts';
import { type ApiAnswer, ApiFixture, type ApiInstance, type Team, until } from '../api-fixture.ts';
import { type Form, type FormPart, file, formOf, mp4Like, text } from './form.ts';
import { openSwapSources, type SwapSources } from './swap-sources.ts';

/**
 * Face swaps as clients order them, on the real Kafka, Postgres, object storage and ffprobe. One instance takes
 * them, as it will once there are workers; the other refuses them at the very end, as this version does.
 */

const maxBytes = 4_000_000;

let sources: SwapSources;
let fixture: ApiFixture;
let open: ApiInstance;
let closed: ApiInstance;
let storage: ObjectStorage;
let rich: Team;

beforeAll(async () => {
  sources = await openSwapSources();
  fixture = await ApiFixture.open({
    RATE_LIMIT_PER_MINUTE: '100000',
    EGRESS_ALLOW: sources.host,
    FACE_SWAP_MAX_BYTES: String(maxBytes),
  });
  [open, closed] = await Promise.all([fixture.startApi({}, undefined, 'available'), fixture.startApi()]);
  storage = ObjectStorage.connect(storageSettings(parseConfig(fixture.environment)));
  rich = await fixture.createTeam({ cents: 1_000_000 });
});

afterAll(async () => {
  storage?.close();
  await fixture?.close();
  await sources?.close();
});

type Asked = Readonly<{ team?: Team; headers?: Record<string, string>; signal?: AbortSignal }>;

const postJson = (api: ApiInstance, body: unknown, { team = rich, headers = {} }: Asked = {}) =>
  api.request('POST', '/v1/face-swap', { key: team.key, body, headers });

async function postForm(
  api: ApiInstance,
  form: Form,
  { team = rich, headers = {} }: Asked = {},
): Promise<ApiAnswer> {
  const response = await fetch(`${api.url}/v1/face-swap`, {
    method: 'POST',
    headers: { 'x-api-key': team.key, 'content-type': form.contentType, ...headers },
    body: new Uint8Array(form.body),
  });
  const body = (await response.json()) as ApiAnswer['body'];
  return { status: response.status, headers: response.headers, body };
}

const fileOf = async (name: string, as: string): Promise<FormPart> =>
  file(as, await readFile(sources.path(name)), name);

const urls = (video: string, face = 'face.jpg') => ({
  video_url: sources.url(video),
  face_image_url: sources.url(face),
});

async function debitsOf({ teamId }: Team): Promise<readonly number[]> {
  const { rows } = await fixture.pool.query(
    `SELECT amount_cents FROM read_model.wallet_transactions WHERE team_id = $1 AND type = 'WalletDebited'`,
    [teamId],
  );
  return rows.map(({ amount_cents }) => amount_cents);
}

async function optionsOf(jobId: unknown): Promise<Record<string, unknown>> {
  const { rows } = await fixture.pool.query(
    'SELECT mode, duration_seconds, status FROM read_model.swaps WHERE job_id = $1',
    [jobId],
  );
  return rows[0];
}

async function uploadsOf(jobId: unknown = ''): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of storage.list(`uploads/${jobId}`)) keys.push(key);
  return keys;
}

describe('a face swap is accepted', () => {
  test('with two URLs: 20 cents for each second begun, and readable at once', async () => {
    const team = await fixture.createTeam({ cents: 1_000 });
    const created = await postJson(open, urls('9.03s.mp4'), { team });
    expect(created.status).toBe(202);
    const body = faceSwapResponseBody.strict().parse(created.body);
    expect(body).toEqual({
      job_id: body.job_id,
      mode: 'fullbody',
      duration_seconds: 10,
      cost_cents: 200,
      status: 'processing',
    });
    expect(created.headers.get('location')).toBe(`/v1/face-swap/${body.job_id}`);
    expect(created.headers.get('idempotency-replayed')).toBeNull();
    expect((await closed.request('GET', '/v1/wallet', { key: team.key })).body).toMatchObject({
      balance_cents: 800,
      total_spent_cents: 200,
    });
    expect(await optionsOf(body.job_id)).toEqual({
      mode: 'fullbody',
      duration_seconds: 10,
      status: 'processing',
    });
    const status = await closed.request('GET', `/v1/face-swap/${body.job_id}`, { key: team.key });
    expect(status).toMatchObject({ status: 200, body: { status: 'processing', progress: 0 } });
  });

  test('with two files, which wait in object storage', async () => {
    const form = formOf([
      text('mode', 'face'),
      await fileOf('9.03s.mp4', 'video'),
      await fileOf('face.webp', 'face_image'),
    ]);
    const created = await postForm(open, form);
    expect(created).toMatchObject({
      status: 202,
      body: { mode: 'face', duration_seconds: 10, cost_cents: 200 },
    });
    const jobId = created.body['job_id'];
    expect(await uploadsOf(jobId)).toEqual([`uploads/${jobId}/face_image`, `uploads/${jobId}/video`]);
    expect(await storage.head(`uploads/${jobId}/video`)).toMatchObject({
      bytes: (await readFile(sources.path('9.03s.mp4'))).length,
    });
  });

  test('with a file and a URL, either way round, and fields behind files', async () => {
    const byFile = formOf([
      await fileOf('12s.webm', 'video'),
      text('face_image_url', sources.url('face.png')),
      text('mode', 'fullbody'),
    ]);
    expect(await postForm(open, byFile)).toMatchObject({ status: 202, body: { duration_seconds: 12 } });
    const byUrl = formOf([
      await fileOf('face.jpg', 'face_image'),
      text('video_url', sources.url('12s.avi', 'plain')),
    ]);
    expect(await postForm(open, byUrl)).toMatchObject({
      status: 202,
      body: { duration_seconds: 12, mode: 'fullbody' },
    });
  });

  test('as a form with two URLs', async () => {
    const form = formOf(Object.entries(urls('12s.mov')).map(([name, url]) => text(name, url)));
    expect(await postForm(open, form)).toMatchObject({ status: 202, body: { cost_cents: 240 } });
  });
});

describe('the price', () => {
  /** A wallet with too little in it names the price. */
  let poor: Team;
  beforeAll(async () => {
    poor = await fixture.createTeam({ cents: 100 });
  });
  const tooDear = (required_cents: number) => ({
    status: 402,
    body: { error: 'Insufficient wallet balance', required_cents, balance_cents: 100 },
  });

  test.each([
    ['9.03s.mp4', 200],
    ['12s.mov', 240],
    ['12s.webm', 240],
    ['12s.avi', 240],
    ['300.0s.mp4', 6_000],
    ['12s-says-1s.mov', 240],
  ])('of %s is %i cents, from a server with ranges, without them, and by upload', async (name, cents) => {
    const answers = [
      await postJson(closed, urls(name), { team: poor }),
      await postJson(closed, { ...urls(name), video_url: sources.url(name, 'plain') }, { team: poor }),
      await postForm(closed, formOf([await fileOf(name, 'video'), await fileOf('face.jpg', 'face_image')]), {
        team: poor,
      }),
    ];
    for (const answer of answers) expect(answer).toMatchObject(tooDear(cents));
  });

  test('is asked of the ledger where swaps are made, with the same answer', async () => {
    const answer = await postJson(open, urls('9.03s.mp4'), { team: poor });
    expect(answer).toMatchObject(tooDear(200));
    expect(Object.keys(answer.body)).toEqual(['error', 'required_cents', 'balance_cents']);
  });

  test('of 300 s is still one, of 300.1 s there is none: the answer names the length and the limit', async () => {
    expect(await postJson(closed, urls('300.0s.mp4'))).toMatchObject({ status: 501 });
    for (const name of ['300.1s.mp4', '300.1s-says-1s.mp4']) {
      const refusals = [
        await postJson(closed, urls(name)),
        await postJson(open, { ...urls(name), video_url: sources.url(name, 'plain') }),
      ];
      for (const answer of refusals)
        expect(answer).toMatchObject({
          status: 400,
          body: { error: 'The video is 300.1 s long; a face swap takes at most 300 s.' },
        });
      const upload = formOf([await fileOf(name, 'video'), await fileOf('face.jpg', 'face_image')]);
      expect(await postForm(open, upload)).toMatchObject({
        status: 400,
        body: { details: [{ path: 'video' }] },
      });
    }
  });

  test('nothing of it was charged, and no upload stayed', async () => {
    expect(await debitsOf(poor)).toEqual([]);
    const { rows } = await fixture.pool.query('SELECT job_id FROM read_model.jobs');
    const paid = new Set(rows.map(({ job_id }) => job_id));
    const left = (await uploadsOf()).filter((key) => !paid.has(key.split('/')[1]));
    expect(left).toEqual([]);
  });
});

describe('this version', () => {
  test('answers 501 to what passes every check, uncharged, and keeps no upload', async () => {
    const team = await fixture.createTeam({ cents: 500 });
    const before = await uploadsOf();
    const form = formOf([await fileOf('9.03s.mp4', 'video'), await fileOf('face.png', 'face_image')]);
    for (const answer of [
      await postJson(closed, urls('9.03s.mp4'), { team }),
      await postForm(closed, form, { team }),
    ])
      expect(answer).toMatchObject({
        status: 501,
        body: { error: expect.stringContaining('Nothing was charged') },
      });
    expect(await debitsOf(team)).toEqual([]);
    expect(await uploadsOf()).toEqual(before);
  });
});

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
    const answer = await postJson(closed, body);
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(says) } });
    const [first] = answer.body['details'] as { path: string; message: string }[];
    expect(first?.message).toBe(answer.body['error']);
  });

  test('a file and a URL for the same thing, whichever comes first', async () => {
    const video = file('video', mp4Like(2_000));
    const face = await fileOf('face.jpg', 'face_image');
    for (const parts of [
      [text('video_url', both.video_url), video, face],
      [video, face, text('video_url', both.video_url)],
    ])
      expect(await postForm(closed, formOf(parts))).toMatchObject({
        status: 400,
        body: { error: 'video_url cannot be sent beside a video file; send one of the two.' },
      });
    const faces = [text('face_image_url', both.face_image_url), video, face];
    expect(await postForm(closed, formOf(faces))).toMatchObject({
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
    expect(await postForm(closed, formOf(parts))).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(says) },
    });
  });

  test('a redirect to an inner address, which is not asked', async () => {
    const canary = await startCanary();
    const inner = `http://127.0.0.1:${canary.port}/v.mp4`;
    const moved = `http://${sources.host}/moved?to=${encodeURIComponent(inner)}`;
    for (const body of [
      { ...urls('9.03s.mp4'), video_url: moved },
      { ...urls('9.03s.mp4'), face_image_url: moved },
    ])
      expect(await postJson(closed, body)).toMatchObject({
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
    const answer = await postForm(closed, formOf([await fileOf(name, field)]));
    expect(answer).toMatchObject({ status: 415, body: { error: expect.stringContaining(formats) } });
  });

  test.each(['video', 'face_image'])('413: a %s over the limit', async (field) => {
    const content = field === 'video' ? mp4Like(maxBytes + 1) : Buffer.alloc(maxBytes + 1, 0xff);
    if (field === 'face_image') (await readFile(sources.path('face.jpg'))).copy(content);
    const answer = await postForm(closed, formOf([file(field, content)]));
    expect(answer).toMatchObject({
      status: 413,
      body: { error: `${field} is larger than the limit of ${maxBytes} bytes.` },
    });
  });
});

describe('a source that cannot be used is refused with 422 and the reason', () => {
  test.each<[string, () => Record<string, string>, RegExp]>([
    ['a page for a video', () => urls('page.mp4'), /is a web page, not a video file/],
    ['sound alone', () => urls('sound.m4v'), /has sound but no picture/],
    ['an image for a video', () => urls('face.jpg'), /is an image, not a video/],
    ['no such video', () => urls('nothing.mp4'), /no video at this URL: 127\.0\.0\.1 answered 404/],
    ['no such face image', () => urls('9.03s.mp4', 'nothing.jpg'), /no face image at this URL/],
    ['a GIF for a face image', () => urls('9.03s.mp4', 'face.gif'), /not an image of type jpg, png or webp/],
    ['a video for a face image', () => urls('9.03s.mp4', '9.03s.mp4'), /not an image of type/],
    ['an empty face image', () => urls('9.03s.mp4', 'empty.mp4'), /not an image of type/],
    [
      'a host that does not exist',
      () => ({ ...urls('9.03s.mp4'), video_url: 'https://nowhere.invalid/v.mp4' }),
      /nowhere\.invalid/,
    ],
  ])('%s', async (_what, body, says) => {
    const answer = await postJson(closed, body());
    expect(answer).toMatchObject({ status: 422, body: { error: expect.stringMatching(says) } });
    expect(JSON.stringify(answer.body)).not.toContain('secret');
  });

  test('a server that never answers, after a time', async () => {
    const hasty = await fixture.startApi({ PROBE_TIME_LIMIT: '1s' });
    const silent = `http://${sources.host}/silent/v.mp4`;
    expect(await postJson(hasty, { ...urls('9.03s.mp4'), video_url: silent })).toMatchObject({
      status: 422,
      body: { error: "Finding out the video's length took longer than 1 s." },
    });
    await hasty.stop();
  });

  test('an uploaded video that cannot be read', async () => {
    const face = await fileOf('face.jpg', 'face_image');
    expect(await postForm(closed, formOf([file('video', mp4Like(50_000)), face]))).toMatchObject({
      status: 422,
      body: { error: 'The video is damaged or cannot be decoded.' },
    });
    expect(await postForm(closed, formOf([await fileOf('sound.m4v', 'video'), face]))).toMatchObject({
      status: 415,
    });
  });

  test('a video that is larger than its server may send', async () => {
    const small = await fixture.startApi({ FACE_SWAP_MAX_BYTES: '10000' });
    for (const server of ['ranges', 'plain'] as const)
      expect(
        await postJson(small, {
          ...urls('9.03s.mp4', 'face.jpg'),
          video_url: sources.url('9.03s.mp4', server),
        }),
      ).toMatchObject({ status: 422, body: { error: expect.stringContaining('larger than the limit') } });
    await small.stop();
  });
});

describe('the Idempotency-Key', () => {
  const keyed = (key: string = randomUUID()) => ({ 'idempotency-key': key });

  test('gives the first answer again, also once the video is gone and the money spent', async () => {
    const team = await fixture.createTeam({ cents: 400 });
    await copyFile(sources.path('9.03s.mp4'), sources.path('passing.mp4'));
    const headers = keyed();
    const created = await postJson(open, urls('passing.mp4'), { team, headers });
    expect(created.status).toBe(202);
    await rename(sources.path('passing.mp4'), sources.path('passed.mp4'));
    const again = await postJson(open, { ...urls('passing.mp4'), mode: 'fullbody' }, { team, headers });
    expect(again).toMatchObject({ status: 202, body: created.body });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.headers.get('location')).toBe(created.headers.get('location'));
    expect(await debitsOf(team)).toEqual([-200]);
    const other = await postJson(open, { ...urls('passing.mp4'), mode: 'face' }, { team, headers });
    expect(other).toMatchObject({ status: 422, body: { error: expect.stringContaining('Idempotency-Key') } });
  });

  test('counts files by their content, and keeps those of the first request only', async () => {
    const team = await fixture.createTeam();
    const headers = keyed();
    const form = async (video: string) =>
      formOf([await fileOf(video, 'video'), await fileOf('face.jpg', 'face_image')]);
    const created = await postForm(open, await form('9.03s.mp4'), { team, headers });
    const before = await uploadsOf();
    const again = await postForm(open, await form('9.03s.mp4'), { team, headers });
    expect(again).toMatchObject({ status: 202, body: created.body });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await postForm(open, await form('12s.mov'), { team, headers })).toMatchObject({ status: 422 });
    expect(await uploadsOf()).toEqual(before);
    expect(await uploadsOf(created.body['job_id'])).toHaveLength(2);
    expect(await debitsOf(team)).toEqual([-200]);
  });

  test('charges once when many arrive at the same moment, and belongs to one kind of request', async () => {
    const team = await fixture.createTeam();
    const headers = keyed();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => postJson(open, urls('9.03s.mp4'), { team, headers })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ body }) => body['job_id'])).size).toBe(1);
    expect(await debitsOf(team)).toEqual([-200]);
    const clip = { key: team.key, body: { video_url: sources.url('9.03s.mp4') }, headers };
    expect(await open.request('POST', '/v1/clip', clip)).toMatchObject({ status: 422 });
    expect(await debitsOf(team)).toEqual([-200]);
  });

  test.each(['', 'x'.repeat(256)])('must have 1 to 255 printable characters (%j)', async (key) => {
    const headers = keyed(key);
    for (const answer of [
      await postJson(closed, urls('9.03s.mp4'), { headers }),
      await postForm(closed, formOf([text('mode', 'face')]), { headers }),
    ])
      expect(answer).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('Idempotency-Key') },
      });
  });
});

test('a client that leaves takes its look at the video with it', async () => {
  const team = await fixture.createTeam();
  const before = sources.requests();
  const gone = new AbortController();
  const silent = { ...urls('9.03s.mp4'), video_url: `http://${sources.host}/silent/v.mp4` };
  // As many as one team may have at once: the next one's turn comes when these end.
  const left = Array.from({ length: 4 }, () =>
    fetch(`${open.url}/v1/face-swap`, {
      method: 'POST',
      headers: { 'x-api-key': team.key, 'content-type': 'application/json' },
      body: JSON.stringify(silent),
      signal: gone.signal,
    }).catch(() => undefined),
  );
  await until('all four to be looked at', async () => sources.requests() >= before + 8);
  gone.abort();
  await Promise.all(left);
  expect(await postJson(open, urls('9.03s.mp4'), { team })).toMatchObject({ status: 202 });
  expect(await debitsOf(team)).toEqual([-200]);
});
