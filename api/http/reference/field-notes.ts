/** What a reader has to know of a field beyond its schema. */
type FieldNote = Readonly<{ description: string; default?: string | number | boolean }>;

const error = { error: { description: 'What was wrong, and what to do.' } };

const clipOptions: Readonly<Record<string, FieldNote>> = {
  video_url: {
    description:
      'The source: a direct link to a video file, or a page of a video platform. http or https, at a public address. Either this or an uploaded file.',
  },
  num_clips: { description: 'How many clips to make.', default: 1 },
  style: { description: 'What kind of moments to look for.', default: 'viral' },
  length: { description: 'Target duration of each clip in seconds. Chosen for you when left out.' },
  prompt: { description: 'Your own instructions for choosing the clips.' },
  camera_mode: {
    description:
      'How to frame the clip for vertical 9:16. standard: blurred background with the video in the middle. facecam: separates gameplay from the camera picture. speaker-zoom: zooms into the face of who speaks. center-crop: crops the middle. active-speaker: follows whoever of several people speaks.',
    default: 'standard',
  },
  hook_length: {
    description: 'Duration of the opening that catches attention, in seconds. Chosen for you when left out.',
  },
  auto_heading: { description: 'Makes a short heading for each clip.', default: true },
};

const headingFields: Readonly<Record<string, FieldNote>> = {
  text: { description: 'Your own heading; overrides auto_heading.' },
  style: {
    description:
      'stroke: bold outlined text without a background, in color. instagram: text on a rounded pill of bg_color, in the colour that contrasts.',
    default: 'stroke',
  },
  color: { description: 'Colour of the text; only with stroke.', default: 'white' },
  font: { description: 'Font of the heading.', default: 'Montserrat' },
  position: { description: 'Where the heading is.', default: 'top' },
  bg_color: { description: 'Colour of the pill; only with instagram.', default: 'black' },
  instructions: {
    description: 'Guides the making of headings; only when auto_heading is true and there is no text.',
  },
};

const captionsFields: Readonly<Record<string, FieldNote>> = {
  enabled: { description: 'Whether captions are burned into the clips.', default: false },
  color: { description: 'Colour that highlights the word being spoken.', default: 'white' },
  font: { description: 'Font of the captions.', default: 'Montserrat' },
};

/** `fields` with their names below `prefix`. */
const below = (prefix: string, fields: Readonly<Record<string, FieldNote>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, note]) => [`${prefix}${name}`, note]));

/** By the name of the schema, then by the field's dotted path. */
export const fieldNotes: Readonly<Record<string, Readonly<Record<string, FieldNote>>>> = {
  Error: error,
  InvalidRequest: {
    ...error,
    details: { description: 'Everything that was wrong, not only the first.' },
    'details.path': { description: 'The field, dotted.' },
    'details.message': { description: 'What it must be.' },
  },
  InsufficientFunds: {
    ...error,
    required_cents: { description: 'What the job costs; only when a create was refused.' },
    balance_cents: { description: 'What the wallet holds; only when a create was refused.' },
  },
  ClipRequest: {
    ...clipOptions,
    heading: { description: 'The text overlay.' },
    ...below('heading.', headingFields),
    captions: { description: 'Burned-in captions.' },
    ...below('captions.', captionsFields),
    music_url: {
      description: 'URL of background music (MP3, WAV or AAC), mixed into all clips at 30% volume.',
    },
  },
  ClipCreated: {
    job_id: { description: 'Ask for the job with it.' },
    num_clips: { description: 'How many clips are being made.' },
    cost_cents: { description: 'What was charged: 150 for each clip.' },
    status: { description: 'Always processing.' },
  },
  ClipJob: {
    job_id: { description: "The job's id." },
    status: { description: 'processing until every clip has ended, then completed.' },
    progress: { description: 'How far it is; only while processing.' },
    'progress.completed': { description: 'Clips that have ended.' },
    'progress.total': { description: 'Clips that were ordered.' },
    stage: { description: 'What is being done just now; only while processing.' },
    clips: { description: 'The clips; only when completed.' },
    'clips.clip_id': { description: "The clip's own id, unique in the whole service." },
    'clips.status': { description: 'completed or failed.' },
    'clips.title': { description: 'What the clip is about; when completed.' },
    'clips.heading': { description: 'The heading; when auto_heading was on or a text was given.' },
    'clips.download_url': {
      description:
        'Where to get the clip, for 7 days from now; when completed. Gone 30 days after the clip was made.',
    },
    'clips.error': { description: 'Why there is no clip; when failed. Its money was given back.' },
    'clips.created_at': { description: 'When it was ordered.' },
  },
  KeyTest: {
    status: { description: 'Always working.' },
    team_id: { description: "The key's team." },
    key_name: { description: "The key's name." },
    timestamp: { description: "The service's time." },
  },
  Wallet: {
    balance_cents: { description: 'What is there to spend.' },
    total_spent_cents: { description: 'All charges less what was given back.' },
    total_topped_up_cents: { description: 'All top-ups.' },
    active: { description: "Whether the team's billing account is active." },
  },
  KeyRequest: {
    name: { description: 'What you know the key by.' },
    expires_at: {
      description:
        'Until when it works; for good when left out or null. A time to come with a time zone, no later than the end of the key that asks.',
    },
  },
  CreatedKey: {
    key_id: { description: 'Names the key, to revoke it.' },
    name: { description: 'What you know the key by.' },
    prefix: { description: "The value's first characters, to tell keys apart." },
    key: { description: "The key's value. It is shown only here." },
    created_at: { description: 'When it was made.' },
    expires_at: { description: 'Until when it works; null: for good.' },
  },
  Key: keyFields(''),
  KeyList: { keys: { description: 'All of them.' }, ...keyFields('keys.') },
  Readiness: {
    status: { description: 'ready or not ready.' },
    reasons: { description: 'What is missing.' },
  },
  Liveness: { status: { description: 'Always live.' } },
  OpenApiDocument: { openapi: { description: 'The version of OpenAPI.' } },
};

function keyFields(prefix: string): Readonly<Record<string, FieldNote>> {
  return below(prefix, {
    key_id: { description: 'Names the key, to revoke it.' },
    name: { description: 'What you know the key by.' },
    prefix: { description: "The value's first characters, to tell keys apart." },
    status: { description: 'Revoked goes before expired.' },
    created_at: { description: 'When it was made.' },
    expires_at: { description: 'Until when it works; null: for good.' },
    revoked_at: { description: 'When it was revoked; null: never.' },
    last_used_at: { description: 'When it last made a request; null: never.' },
  });
}
