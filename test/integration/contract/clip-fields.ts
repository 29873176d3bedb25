/** The tables of interface.md, sections 2.6, 4.2 and 8: what `POST /v1/clip` takes, as JSON and as a form. */

const colors = [...['white', 'black', 'red', 'orange', 'yellow', 'green', 'teal', 'blue', 'purple', 'pink']];
const fonts = [
  ...[
    'Proxima Nova',
    'Montserrat',
    'Luckiest Guy',
    'Everlasting',
    'Komika',
    'Burbank',
    'Bebas Neue',
    'Anton',
  ],
];

export type FieldRow = Readonly<{
  /** The name in the JSON body, dotted, and in the form. */
  json: string;
  form: string;
  default?: unknown;
  /** What the error of a wrong value has to name. */
  rule: readonly string[];
  valid: readonly unknown[];
  invalid: readonly unknown[];
  invalidInForm: readonly string[];
}>;

const noText = [1, true, null, [], {}];

function words(json: string, form: string, allowed: readonly string[], preset?: string): FieldRow {
  const [first = ''] = allowed;
  const wrong = ['', first.toUpperCase(), ` ${first}`, 'no such', allowed.join(',')];
  return {
    json,
    form,
    ...(preset !== undefined && { default: preset }),
    rule: allowed,
    valid: allowed,
    invalid: [...wrong, ...noText, [first]],
    invalidInForm: wrong,
  };
}

function integers(json: string, [min, max]: readonly [number, number], preset?: number): FieldRow {
  const outside = [min - 1, max + 1, 0, -min, min + 0.5, 1e21];
  return {
    json,
    form: json,
    ...(preset !== undefined && { default: preset }),
    rule: [String(min), String(max)],
    valid: [min, min + 1, max - 1, max],
    invalid: [...outside, String(min), '', true, null, [], [min], {}],
    invalidInForm: [
      ...outside.map(String),
      '',
      'ten',
      `${min}x`,
      ` ${min}`,
      `+${min}`,
      `${min}.0`,
      '1e1',
      '0x2',
      'NaN',
    ],
  };
}

function flag(json: string, form: string, preset: boolean): FieldRow {
  return {
    json,
    form,
    default: preset,
    rule: ['true', 'false'],
    valid: [true, false],
    invalid: ['true', 'false', 0, 1, null, [], {}],
    invalidInForm: ['', 'TRUE', 'yes', '1', '0', 'maybe', ' true'],
  };
}

function text(json: string, form: string, most: number): FieldRow {
  const tooLong = ['x'.repeat(most + 1)];
  return {
    json,
    form,
    rule: [String(most)],
    // A character is what a person counts as one, not a UTF-16 unit.
    valid: ['x', 'Größer als 你好', 'x'.repeat(most), '😀'.repeat(most)],
    invalid: [...tooLong, 1, true, null, [], {}],
    invalidInForm: tooLong,
  };
}

export const clipFields: readonly FieldRow[] = [
  integers('num_clips', [1, 10], 1),
  words('style', 'style', ['viral', 'business', 'general', 'gaming'], 'viral'),
  integers('length', [10, 180]),
  // The interface names no limit for these two; a body has to have one.
  text('prompt', 'prompt', 5_000),
  words(
    'camera_mode',
    'camera_mode',
    ['standard', 'facecam', 'speaker-zoom', 'center-crop', 'active-speaker'],
    'standard',
  ),
  integers('hook_length', [2, 15]),
  flag('auto_heading', 'auto_heading', true),
  text('heading.text', 'heading_text', 500),
  words('heading.style', 'heading_style', ['stroke', 'instagram'], 'stroke'),
  words('heading.color', 'heading_color', colors, 'white'),
  words('heading.font', 'heading_font', fonts, 'Montserrat'),
  words('heading.position', 'heading_position', ['top', 'middle', 'bottom'], 'top'),
  words('heading.bg_color', 'heading_bg_color', ['black', 'white'], 'black'),
  text('heading.instructions', 'heading_instructions', 1_500),
  flag('captions.enabled', 'captions_enabled', false),
  words('captions.color', 'captions_color', colors, 'white'),
  words('captions.font', 'captions_font', fonts, 'Montserrat'),
];

/** Fields that are no options: the source and the music, by their kinds of wrong values. */
export const urlFields = ['video_url', 'music_url'] as const;
export const badUrls: readonly unknown[] = [
  ...noText,
  '',
  'talk.mp4',
  '//example.com/talk.mp4',
  'ftp://example.com/talk.mp4',
  'file:///etc/passwd',
  'data:video/mp4;base64,AAAA',
  'https://user:secret@example.com/talk.mp4',
  'http://localhost/talk.mp4',
  'http://10.0.0.1/talk.mp4',
  'http://[::1]/talk.mp4',
  'http://169.254.169.254/latest/meta-data/',
];

/** The body that has `value` at the dotted `path`. */
export function bodyWith(path: string, value: unknown): Record<string, unknown> {
  const [first = '', second] = path.split('.');
  return { [first]: second === undefined ? value : { [second]: value } };
}
