import { describe, expect, test } from 'vitest';
import { clipBodyOf, clipFormFields, parseClipForm, refuseClipFormEarly } from '#api/http/clip-form.ts';
import { parseClipRequest } from '#api/http/clip-request.ts';
import type { ReceivedForm, UploadedFile } from '#api/http/uploads/received-form.ts';

const upload = (field: string): UploadedFile => ({
  field,
  objectKey: `uploads/job/${field}`,
  fileName: `${field}.bin`,
  sha256: 'ab'.repeat(32),
  byteCount: 1,
  type: { kind: 'video', contentType: 'video/mp4' },
});
const formWith = (fields: Record<string, string>, ...files: readonly string[]): ReceivedForm => ({
  fields: new Map(Object.entries(fields)),
  files: new Map(files.map((field) => [field, upload(field)])),
});

function outcomeOf(form: ReceivedForm): string {
  const parsed = parseClipForm(form, []);
  return 'options' in parsed ? 'ok' : `${parsed.refused.status} ${String(parsed.refused.body['error'])}`;
}

const source = { video_url: 'https://example.com/a.mp4' };

describe('the fields of a form', () => {
  test('are the JSON body that says the same', () => {
    const form = {
      ...source,
      num_clips: '3',
      style: 'gaming',
      length: '30',
      prompt: 'the funny part',
      camera_mode: 'center-crop',
      hook_length: '5',
      auto_heading: 'false',
      heading_text: 'Hello',
      heading_style: 'instagram',
      heading_color: 'teal',
      heading_font: 'Anton',
      heading_position: 'middle',
      heading_bg_color: 'white',
      heading_instructions: 'short',
      captions_enabled: 'true',
      captions_color: 'pink',
      captions_font: 'Komika',
      music_url: 'https://example.com/a.mp3',
    };
    expect(clipBodyOf(new Map(Object.entries(form)))).toEqual({
      ...source,
      num_clips: 3,
      style: 'gaming',
      length: 30,
      prompt: 'the funny part',
      camera_mode: 'center-crop',
      hook_length: 5,
      auto_heading: false,
      heading: {
        text: 'Hello',
        style: 'instagram',
        color: 'teal',
        font: 'Anton',
        position: 'middle',
        bg_color: 'white',
        instructions: 'short',
      },
      captions: { enabled: true, color: 'pink', font: 'Komika' },
      music_url: 'https://example.com/a.mp3',
    });
    for (const field of Object.keys(form)) expect(clipFormFields).toContain(field);
  });

  test.each(['1.5', '', ' 3', '3 ', '+3', '03', '1e1', '0x3', 'three', '3,0', '٣', '9'.repeat(400), '-0'])(
    'num_clips %j is no integer',
    (num_clips) =>
      expect(outcomeOf(formWith({ ...source, num_clips }))).toBe(
        '400 num_clips must be an integer from 1 to 10.',
      ),
  );

  test.each(['maybe', 'TRUE', '1', '', 'toString', 'yes'])(
    'captions_enabled %j is no flag',
    (captions_enabled) =>
      expect(outcomeOf(formWith({ ...source, captions_enabled }))).toBe(
        '400 captions_enabled must be true or false.',
      ),
  );

  test('give the options that JSON gives', () => {
    const asJson = parseClipRequest({ ...source, num_clips: 2, captions: { enabled: false } }, []);
    expect(parseClipForm(formWith({ ...source, num_clips: '2', captions_enabled: 'false' }), [])).toEqual(
      asJson,
    );
  });
});

describe('the files of a form', () => {
  test('stand in for the URL', () => {
    expect(parseClipForm(formWith({}, 'video'), [])).toMatchObject({
      options: { video_url: null, video_object_key: 'uploads/job/video', video_file_name: 'video.bin' },
    });
    expect(parseClipForm(formWith({}, 'video', 'music'), [])).toMatchObject({
      options: { music_url: null, music_object_key: 'uploads/job/music' },
    });
  });

  test.each<readonly [string, ReceivedForm, string]>([
    ['no video', formWith({}), '400 A video_url or a video file via multipart form data must be provided.'],
    [
      'music alone',
      formWith({}, 'music'),
      '400 A video_url or a video file via multipart form data must be provided.',
    ],
    [
      'a video twice',
      formWith(source, 'video'),
      '400 video_url cannot be sent beside a video file; send one of the two.',
    ],
    [
      'music twice',
      formWith({ music_url: 'https://example.com/a.mp3' }, 'video', 'music'),
      '400 music_url cannot be sent beside a music file; send one of the two.',
    ],
  ])('%s', (_name, form, expected) => expect(outcomeOf(form)).toBe(expected));
});

describe('before a file is read', () => {
  const early = (fields: Record<string, string>, ...files: readonly string[]) =>
    refuseClipFormEarly(new Map(Object.entries(fields)), files, [])?.body['error'];

  test('what is wrong already is refused', () => {
    expect(early({ length: '9' }, 'video')).toBe('length must be an integer from 10 to 180.');
    expect(early(source, 'video')).toBe('video_url cannot be sent beside a video file; send one of the two.');
    expect(early({ video_url: 'http://10.0.0.1/a.mp4' }, 'music')).toMatch(/^video_url cannot be used/);
  });

  test('what may still come is not', () => expect(early({}, 'music')).toBeUndefined());
});
