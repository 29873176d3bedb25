import { describe, expect, test } from 'vitest';
import { parseClipRequest } from '#api/http/clip-request.ts';

const source = { video_url: 'https://example.com/a.mp4' };

function outcomeOf(body: unknown, allow: readonly string[] = []): string {
  const parsed = parseClipRequest(body, allow);
  if ('options' in parsed) return 'ok';
  const details = parsed.refused.body['details'] as readonly { path: string }[];
  return `${parsed.refused.status} ${details.map(({ path }) => path).join(' ')}`;
}

/** Field by field: what is accepted, and what is wrong (400). */
const fields: readonly (readonly [field: string, ok: readonly unknown[], bad: readonly unknown[]])[] = [
  ['num_clips', [1, 2, 10], [0, 11, -1, 1.5, '3', null, true, [], {}, 1e21]],
  ['style', ['viral', 'business', 'general', 'gaming'], ['Viral', 'funny', '', 1, null]],
  ['length', [10, 11, 180], [9, 181, 10.5, '10', null]],
  ['prompt', ['the funny part', ''], [1, null, {}, 'x'.repeat(5_001)]],
  [
    'camera_mode',
    ['standard', 'center-crop', 'facecam', 'speaker-zoom', 'active-speaker'],
    ['Standard', 'wide', '', null, 3],
  ],
  ['hook_length', [2, 15], [1, 16, 2.5, '2', null]],
  ['auto_heading', [true, false], ['false', 0, null]],
  [
    'music_url',
    ['https://example.com/a.mp3'],
    [1, null, '', 'ftp://example.com/a.mp3', 'http://10.0.0.1/a.mp3'],
  ],
  ['heading', [{}], [null, 'text', [], 1]],
  ['captions', [{}], [null, true, [], 'on']],
];

const nested: readonly (readonly [
  object: string,
  field: string,
  ok: readonly unknown[],
  bad: readonly unknown[],
])[] = [
  ['heading', 'text', ['Hello', ''], [1, null, 'x'.repeat(501)]],
  ['heading', 'style', ['stroke', 'instagram'], ['plain', null, 1]],
  ['heading', 'color', ['white', 'pink'], ['grey', 'White', null]],
  ['heading', 'font', ['Montserrat', 'Anton'], ['Arial', 'montserrat', null]],
  ['heading', 'position', ['top', 'middle', 'bottom'], ['left', null]],
  ['heading', 'bg_color', ['black', 'white'], ['red', null]],
  ['heading', 'instructions', ['short', 'x'.repeat(1_500)], ['x'.repeat(1_501), 1, null]],
  ['captions', 'enabled', [true, false], ['true', 1, null]],
  ['captions', 'color', ['white', 'teal'], ['grey', null]],
  ['captions', 'font', ['Komika', 'Bebas Neue'], ['Arial', null]],
];

describe('POST /v1/clip, JSON body', () => {
  describe.each(fields)('%s', (field, ok, bad) => {
    test('takes what the table allows', () => {
      for (const value of ok) expect(outcomeOf({ ...source, [field]: value })).toBe('ok');
    });
    test('refuses the rest with 400', () => {
      for (const value of bad) expect(outcomeOf({ ...source, [field]: value })).toBe(`400 ${field}`);
    });
  });

  describe.each(nested)('%s.%s', (object, field, ok, bad) => {
    const body = (value: unknown) => ({ ...source, [object]: { [field]: value } });
    test('takes what the table allows, refuses the rest', () => {
      for (const value of ok) expect(outcomeOf(body(value))).toBe('ok');
      for (const value of bad) expect(outcomeOf(body(value))).toBe(`400 ${object}.${field}`);
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

  const optionsOf = (body: object) => {
    const parsed = parseClipRequest({ ...source, ...body }, []);
    return 'options' in parsed ? parsed.options : undefined;
  };

  test('a default that is written out makes the same request', () => {
    const heading = {
      style: 'stroke',
      color: 'white',
      font: 'Montserrat',
      position: 'top',
      bg_color: 'black',
    };
    const captions = { enabled: false, color: 'red' };
    expect(optionsOf({ style: 'viral', auto_heading: true, heading, captions })).toEqual(optionsOf({}));
  });

  test('a heading, captions and music are kept, with what was left out', () => {
    const music_url = 'https://example.com/a.mp3';
    const asked = { heading: { text: 'Hello' }, captions: { enabled: true, font: 'Anton' }, music_url };
    expect(optionsOf(asked)).toMatchObject({
      heading: { text: 'Hello', style: 'stroke', position: 'top', bg_color: 'black', instructions: null },
      captions: { enabled: true, color: 'white', font: 'Anton' },
      music_url,
    });
  });

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
