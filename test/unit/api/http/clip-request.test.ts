import { describe, expect, test } from 'vitest';
import { parseClipRequest } from '#api/http/clip-request.ts';

const source = { video_url: 'https://example.com/a.mp4' };

function outcomeOf(body: unknown, allow: readonly string[] = []): string {
  const parsed = parseClipRequest(body, allow);
  if ('options' in parsed) return 'ok';
  const details = parsed.refused.body['details'] as readonly { path: string }[];
  return `${parsed.refused.status} ${details.map(({ path }) => path).join(' ')}`;
}

/** Field by field: what is accepted, what is wrong (400), and what does not exist yet (501). */
const fields: readonly (readonly [
  field: string,
  ok: readonly unknown[],
  bad: readonly unknown[],
  later: readonly unknown[],
])[] = [
  ['num_clips', [1, 2, 10], [0, 11, -1, 1.5, '3', null, true, [], {}, 1e21], []],
  ['style', [], ['Viral', 'funny', '', 1, null], ['viral', 'business', 'general', 'gaming']],
  ['length', [10, 11, 180], [9, 181, 10.5, '10', null], []],
  ['prompt', [], [1, null, {}, 'x'.repeat(5_001)], ['the funny part', '']],
  [
    'camera_mode',
    ['standard', 'center-crop'],
    ['Standard', 'wide', '', null, 3],
    ['facecam', 'speaker-zoom', 'active-speaker'],
  ],
  ['hook_length', [], [1, 16, 2.5, '2', null], [2, 15]],
  ['auto_heading', [false], ['false', 0, null], [true]],
  [
    'music_url',
    [],
    [1, null, '', 'ftp://example.com/a.mp3', 'http://10.0.0.1/a.mp3'],
    ['https://example.com/a.mp3'],
  ],
  ['heading', [{}], [null, 'text', [], 1], []],
  ['captions', [{}], [null, true, [], 'on'], []],
];

const nested: readonly (readonly [
  object: string,
  field: string,
  ok: readonly unknown[],
  bad: readonly unknown[],
  later: readonly unknown[],
])[] = [
  ['heading', 'text', [], [1, null, 'x'.repeat(501)], ['Hello', '']],
  ['heading', 'style', [], ['plain', null, 1], ['stroke', 'instagram']],
  ['heading', 'color', [], ['grey', 'White', null], ['white', 'pink']],
  ['heading', 'font', [], ['Arial', 'montserrat', null], ['Montserrat', 'Anton']],
  ['heading', 'position', [], ['left', null], ['top', 'middle', 'bottom']],
  ['heading', 'bg_color', [], ['red', null], ['black', 'white']],
  ['heading', 'instructions', [], ['x'.repeat(1_501), 1, null], ['short', 'x'.repeat(1_500)]],
  ['captions', 'enabled', [false], ['true', 1, null], [true]],
  ['captions', 'color', ['white', 'teal'], ['grey', null], []],
  ['captions', 'font', ['Komika', 'Bebas Neue'], ['Arial', null], []],
];

describe('POST /v1/clip, JSON body', () => {
  describe.each(fields)('%s', (field, ok, bad, later) => {
    test('takes what the table allows', () => {
      for (const value of ok) expect(outcomeOf({ ...source, [field]: value })).toBe('ok');
    });
    test('refuses the rest with 400', () => {
      for (const value of bad) expect(outcomeOf({ ...source, [field]: value })).toBe(`400 ${field}`);
    });
    test('refuses with 501 what does not exist yet', () => {
      for (const value of later) expect(outcomeOf({ ...source, [field]: value })).toBe(`501 ${field}`);
    });
  });

  describe.each(nested)('%s.%s', (object, field, ok, bad, later) => {
    const body = (value: unknown) => ({ ...source, [object]: { [field]: value } });
    test('takes what changes nothing, refuses the rest', () => {
      for (const value of ok) expect(outcomeOf(body(value))).toBe('ok');
      for (const value of bad) expect(outcomeOf(body(value))).toBe(`400 ${object}.${field}`);
      for (const value of later) expect(outcomeOf(body(value))).toBe(`501 ${object}.${field}`);
    });
  });

  test.each([
    'https://example.com/a.mp4?token=x',
    'http://example.com',
    'https://www.youtube.com/watch?v=x',
    'http://93.184.216.34/a.mp4',
  ])('takes the source %s', (video_url) => expect(outcomeOf({ video_url })).toBe('ok'));

  test.each([
    undefined,
    '',
    5,
    null,
    'example.com/a.mp4',
    'file:///etc/passwd',
    'ftp://example.com/a.mp4',
    'https://user:secret@example.com/a.mp4',
    'http://localhost/a.mp4',
    'http://127.0.0.1/a.mp4',
    'http://2130706433/a.mp4',
    'http://0x7f.1/a.mp4',
    'http://[::ffff:10.0.0.1]/a.mp4',
    'http://169.254.169.254/latest/meta-data',
  ])('refuses the source %s on its face', (video_url) =>
    expect(outcomeOf({ video_url })).toBe('400 video_url'),
  );

  test('lets through what the operator allows', () =>
    expect(outcomeOf({ video_url: 'http://127.0.0.1:9000/a.mp4' }, ['127.0.0.1:9000'])).toBe('ok'));

  test.each([[null], [[]], ['text'], [3], [true]])('refuses a body that is no object (%j)', (body) =>
    expect(outcomeOf(body)).toBe('400 '),
  );

  test('refuses unknown fields, also inside objects', () => {
    expect(outcomeOf({ ...source, numclips: 3 })).toBe('400 numclips');
    expect(outcomeOf({ ...source, heading: { colour: 'red' } })).toBe('400 heading.colour');
  });

  test('says in one sentence what the first bad field has to be', () => {
    const parsed = parseClipRequest({ ...source, num_clips: 11, style: 'x' }, []);
    expect(parsed).toMatchObject({
      refused: {
        body: {
          error: 'num_clips must be an integer from 1 to 10.',
          details: [
            { path: 'num_clips', message: 'num_clips must be an integer from 1 to 10.' },
            { path: 'style', message: 'style must be one of viral, business, general, gaming.' },
          ],
        },
      },
    });
  });

  test('a missing source is told as the interface tells it', () =>
    expect(parseClipRequest(undefined, [])).toMatchObject({
      refused: { body: { error: 'A video_url or a video file via multipart form data must be provided.' } },
    }));

  test('what is wrong goes before what does not exist yet', () =>
    expect(outcomeOf({ ...source, camera_mode: 'facecam', num_clips: 0 })).toBe('400 num_clips'));

  test('defaults are filled in', () =>
    expect(parseClipRequest(source, [])).toEqual({
      options: {
        video_url: source.video_url,
        video_object_key: null,
        video_file_name: null,
        num_clips: 1,
        style: 'viral',
        length_seconds: null,
        prompt: null,
        camera_mode: 'standard',
        hook_length_seconds: null,
        auto_heading: true,
        heading: null,
        captions: null,
        music_url: null,
        music_object_key: null,
      },
      callbackUrl: null,
    }));
});
