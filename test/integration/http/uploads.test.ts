import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { type ApiAnswer, ApiFixture, type ApiInstance, type Team } from '../api-fixture.ts';
import { mediaFolder } from '../media/task-folder.ts';
import { type Form, type FormPart, file, formOf, formType, mp4Like, text } from './form.ts';
import { errorOf, postForm, UploadedObjects } from './upload-fixture.ts';

/** Forms on the real Kafka, Postgres and object storage; what becomes of a job's clips is shown elsewhere. */

const sample = fileURLToPath(new URL('../../../infra/sample/talk.mp4', import.meta.url));
const MiB = 1024 ** 2;
/** Small enough that a test goes over them in a moment. */
const sourceMaxBytes = 16 * MiB;
const musicMaxBytes = 1 * MiB;

let fixture: ApiFixture;
let api: ApiInstance;
let team: Team;
let objects: UploadedObjects;
let talk: Buffer;

beforeAll(async () => {
  fixture = await ApiFixture.open({
    SOURCE_MAX_BYTES: String(sourceMaxBytes),
    MUSIC_MAX_BYTES: String(musicMaxBytes),
    RATE_LIMIT_PER_MINUTE: '100000',
  });
  api = await fixture.startApi();
  team = await fixture.createTeam({ cents: 100_000 });
  objects = new UploadedObjects(fixture.environment);
  talk = await readFile(sample);
});

afterAll(async () => {
  objects?.close();
  await fixture?.close();
});

const post = (form: Form, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
  postForm(api, form, { 'x-api-key': team.key, ...headers });

const send = (...parts: readonly FormPart[]) => post(formOf(parts));

describe('an uploaded video', () => {
  test('is stored as it was and named in the job', async () => {
    const answer = await send(
      text('num_clips', '2'),
      file('video', talk, 'Ünïcode talk.mp4'),
      text('length', '30'),
    );
    expect(answer).toMatchObject({
      status: 200,
      body: { num_clips: 2, cost_cents: 300, status: 'processing' },
    });
    const key = `uploads/${String(answer.body['job_id'])}/video`;
    const stored = await objects.storage.getBytes(key, talk.length);
    expect(createHash('sha256').update(stored).digest('hex')).toBe(
      createHash('sha256').update(talk).digest('hex'),
    );
    expect(await objects.storage.head(key)).toEqual({ bytes: talk.length, contentType: 'video/mp4' });
    await objects.storage.delete(key);
  });

  test('is the same job whether fields come before or after it', async () => {
    const answers = [
      await send(text('length', '30'), text('camera_mode', 'center-crop'), file('video', talk)),
      await send(file('video', talk), text('camera_mode', 'center-crop'), text('length', '30')),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await objects.clear();
  });

  test('larger than one part goes up in parts', async () => {
    const answer = await send(file('video', mp4Like(13 * MiB)));
    expect(answer.status).toBe(200);
    const key = `uploads/${String(answer.body['job_id'])}/video`;
    expect(await objects.storage.head(key)).toMatchObject({ bytes: 13 * MiB });
    await objects.clear();
    expect(await objects.all()).toEqual([]);
  });
});

describe('the type of a file', () => {
  let folder: string;
  let made: ReadonlyMap<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clipledger-uploads-'));
    made = await makeOneOfEach(folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(['mp4', 'mov', 'avi', 'mkv', 'webm'])(
    '%s is taken as a video, whatever it is called',
    async (format) => {
      const video = await readFile(made.get(format) ?? '');
      expect((await send(file('video', video, 'notes.txt'))).status).toBe(200);
      await objects.clear();
    },
  );

  test.each(['mp3', 'wav', 'aac', 'm4a'])('%s is taken as music', async (format) => {
    const music = await readFile(made.get(format) ?? '');
    const answer = await send(file('video', mp4Like(100)), file('music', music, `music.${format}`));
    expect(answer.status).toBe(200);
    await objects.clear();
  });

  test.each(['mp4', 'ogg'])('%s is not taken as music', async (format) => {
    const music = await readFile(made.get(format) ?? '');
    const answer = await send(file('video', mp4Like(100)), file('music', music, `music.${format}`));
    expect(answer.status).toBe(415);
    expect(await objects.all()).toEqual([]);
  });

  test.each(['mp3', 'wav', 'm4a', 'ogg', 'gif', 'png'])('%s is not taken as a video', async (format) => {
    const answer = await send(file('video', await readFile(made.get(format) ?? ''), 'talk.mp4'));
    expect(answer.status).toBe(415);
    expect(await objects.all()).toEqual([]);
  });

  test.skipIf(mediaFolder === undefined)('of the videos on this machine is taken', async () => {
    const videos = join(mediaFolder ?? '', 'video');
    for (const name of await readdir(videos))
      expect([name, (await send(file('video', await readFile(join(videos, name)), name))).status]).toEqual([
        name,
        200,
      ]);
    await objects.clear();
  });
});

/** A second of a test picture and a tone in each format, made by ffmpeg. */
async function makeOneOfEach(folder: string): Promise<ReadonlyMap<string, string>> {
  const { ffmpegPath } = await locateMediaTools({}, process.env['PATH'] ?? '');
  const picture = ['-f', 'lavfi', '-i', 'testsrc=size=160x90:rate=10:duration=1'];
  const tone = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=1'];
  const inputs: Readonly<Record<string, readonly string[]>> = {
    ...{
      mp4: [...picture, ...tone],
      mov: [...picture, ...tone],
      avi: [...picture, ...tone],
      mkv: [...picture, ...tone],
    },
    webm: [...picture, ...tone, '-c:v', 'libvpx', '-c:a', 'libopus'],
    ...{ mp3: tone, wav: tone, aac: tone, m4a: tone, ogg: [...tone, '-c:a', 'libopus'] },
    ...{ gif: picture, png: [...picture, '-frames:v', '1'] },
  };
  const made = new Map<string, string>();
  for (const [format, input] of Object.entries(inputs)) {
    const path = join(folder, `made.${format}`);
    await promisify(execFile)(ffmpegPath, ['-v', 'error', ...input, path]);
    made.set(format, path);
  }
  return made;
}

describe('a form that is refused', () => {
  const bad: readonly (readonly [string, () => readonly FormPart[], string])[] = [
    ['nothing', () => [], '400 A video_url or a video file via multipart form data must be provided.'],
    [
      'text as a video',
      () => [file('video', Buffer.from('hello'))],
      '415 video must be a file of type mp4, mov, avi, mkv or webm; this one is not, judged by its content.',
    ],
    [
      'a video over the limit',
      () => [file('video', mp4Like(sourceMaxBytes + 1))],
      `413 video is larger than the limit of ${sourceMaxBytes} bytes.`,
    ],
    [
      'music over its limit',
      () => [
        file('video', mp4Like(100)),
        file('music', Buffer.concat([Buffer.from('ID3'), Buffer.alloc(musicMaxBytes)])),
      ],
      `413 music is larger than the limit of ${musicMaxBytes} bytes.`,
    ],
    [
      'an empty video',
      () => [file('video', Buffer.alloc(0))],
      '400 video is an empty file; send one with content.',
    ],
    [
      'two videos',
      () => [file('video', mp4Like(100)), file('video', mp4Like(100))],
      '400 video is there more than once; send it once.',
    ],
    [
      'a field twice',
      () => [text('length', '20'), file('video', mp4Like(100)), text('length', '20')],
      '400 length is there more than once; send it once.',
    ],
    ['a field that is a file', () => [file('length', mp4Like(100))], '400 length must be text, not a file.'],
    [
      'a file and a URL',
      () => [text('video_url', 'https://example.com/a.mp4'), file('video', mp4Like(100))],
      '400 video_url cannot be sent beside a video file; send one of the two.',
    ],
    [
      'a URL after the file',
      () => [file('video', mp4Like(100)), text('video_url', 'https://example.com/a.mp4')],
      '400 video_url cannot be sent beside a video file; send one of the two.',
    ],
    [
      'a count that is no integer',
      () => [text('num_clips', '1.5'), file('video', mp4Like(100))],
      '400 num_clips must be an integer from 1 to 10.',
    ],
    [
      'the same after the file',
      () => [file('video', mp4Like(100)), text('num_clips', '1.5')],
      '400 num_clips must be an integer from 1 to 10.',
    ],
    [
      'a flag that is none',
      () => [file('video', mp4Like(100)), text('captions_enabled', 'maybe')],
      '400 captions_enabled must be true or false.',
    ],
    [
      'a nested field',
      () => [file('video', mp4Like(100)), text('heading_color', 'grey')],
      '400 heading_color must be one of white, black, red, orange, yellow, green, teal, blue, purple, pink.',
    ],
    [
      'a field that is too long',
      () => [file('video', mp4Like(100)), text('prompt', 'x'.repeat(70_000))],
      '400 prompt must be at most 65536 bytes.',
    ],
    [
      'what is wrong after the file',
      () => [text('style', 'viral'), file('video', mp4Like(100)), text('length', '9')],
      '400 length must be an integer from 10 to 180.',
    ],
  ];

  test.each(bad)('%s: nothing is stored', async (_name, parts, expected) => {
    expect(errorOf(await send(...parts()))).toBe(expected);
    expect(await objects.all()).toEqual([]);
  });

  test.each(['videos', 'toString', '__proto__', 'heading[color]', ''])(
    'an unknown field %j is named',
    async (name) => {
      for (const part of [text(name, '1'), file(name, mp4Like(100))]) {
        const answer = await send(part, file('video', mp4Like(100)));
        expect(answer.status).toBe(400);
        if (!name.includes('__') && name !== 'toString') expect(errorOf(answer)).toContain(`400 ${name}`);
      }
      expect(await objects.all()).toEqual([]);
    },
  );

  test('without money: nothing is stored and nothing was charged', async () => {
    const poor = await fixture.createTeam({ cents: 100 });
    const answer = await post(formOf([file('video', talk)]), { 'x-api-key': poor.key });
    expect([answer.status, answer.body['required_cents'], answer.body['balance_cents']]).toEqual([
      402, 150, 100,
    ]);
    expect(await objects.all()).toEqual([]);
  });
});

describe('a multipart body that is broken', () => {
  const whole = () => formOf([text('length', '20'), file('video', mp4Like(100_000))], 'B');
  const cut = (bytes: number): Form => ({ ...whole(), body: whole().body.subarray(0, -bytes) });
  const raw = (body: string): Form => ({ contentType: formType('B'), body: Buffer.from(body, 'latin1') });
  const video = mp4Like(100).toString('latin1');
  const videoPart = `--B\r\nContent-Disposition: form-data; name="video"; filename="a.mp4"\r\n\r\n${video}\r\n`;

  test.each<readonly [string, () => Form]>([
    ['no boundary', () => ({ ...whole(), contentType: 'multipart/form-data' })],
    ['another boundary', () => ({ ...whole(), contentType: formType('C') })],
    ['a boundary of a kilobyte', () => ({ ...whole(), contentType: formType('C'.repeat(1_000)) })],
    ['an empty body', () => raw('')],
    ['no last boundary', () => cut(7)],
    ['half the last boundary', () => cut(3)],
    ['half a file', () => cut(50_000)],
    ['half a header', () => raw(`${videoPart}--B\r\nContent-Disp`)],
    ['a part without a header', () => raw(`${videoPart}--B\r\n\r\n9\r\n--B--\r\n`)],
    [
      'a part without a name',
      () => raw(`${videoPart}--B\r\nContent-Disposition: form-data\r\n\r\n9\r\n--B--\r\n`),
    ],
    [
      'a part that is no form data',
      () => raw(`${videoPart}--B\r\nContent-Disposition: attachment; name="length"\r\n\r\n9\r\n--B--\r\n`),
    ],
    [
      'headers of 100 kB',
      () =>
        raw(
          `${videoPart}--B\r\nX: ${'x'.repeat(100_000)}\r\nContent-Disposition: form-data; name="length"\r\n\r\n9\r\n--B--\r\n`,
        ),
    ],
    [
      'JSON in a field',
      () =>
        raw(
          `${videoPart}--B\r\nContent-Disposition: form-data; name="length"\r\nContent-Type: application/json\r\n\r\n20\r\n--B--\r\n`,
        ),
    ],
  ])('%s: 400', async (_name, form) => {
    const answer = await post(form());
    expect([answer.status, answer.body['error']]).toEqual([400, expect.any(String)]);
    expect(await objects.all()).toEqual([]);
  });

  test('what comes before the first and after the last boundary does not matter', async () => {
    const answer = await post(raw(`preamble\r\n${videoPart}--B--\r\nepilogue --B and more`));
    expect(errorOf(answer)).toBe('200 undefined');
    await objects.clear();
  });
});
