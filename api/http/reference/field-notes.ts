import { clipFormPaths } from '../clip-form.ts';

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
    description:
      'How long the opening that catches attention lasts, in seconds: the strongest sentence goes first, or already stands there. Chosen for you when left out.',
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

const callbackUrl: FieldNote = {
  description: 'Where to POST to when the job has ended, signed by Standard Webhooks. At a public address.',
};

const clipNotes: Readonly<Record<string, FieldNote>> = {
  ...clipOptions,
  heading: { description: 'How the heading looks that is drawn over each clip, and what it says.' },
  ...below('heading.', headingFields),
  captions: { description: 'Burned-in captions.' },
  ...below('captions.', captionsFields),
  music_url: {
    description:
      'URL of background music (MP3, WAV or AAC), mixed into all clips at 30% volume. Either this or an uploaded file.',
  },
  callback_url: callbackUrl,
};

const faceSwapNotes: Readonly<Record<string, FieldNote>> = {
  video_url: {
    description:
      'The video, at most 300 seconds: a direct link or a page of a video platform. http or https, at a public address. Either this or a file video.',
  },
  face_image_url: {
    description: 'The image with the face (jpg, png or webp). Either this or a file face_image.',
  },
  mode: {
    description:
      'face: a fast swap of the face alone, typically in minutes. fullbody: slower, in production quality, segment by segment.',
    default: 'fullbody',
  },
  callback_url: callbackUrl,
};

const jobNotes = {
  job_id: { description: "The job's id." },
  created_at: { description: 'When it was ordered.' },
} as const;

const page = { next_cursor: { description: 'Where the next page begins; null on the last one.' } };

const deliveryNotes: Readonly<Record<string, FieldNote>> = {
  delivery_id: { description: "The delivery's id, and its webhook-id." },
  job_id: { description: 'The job that it tells of.' },
  url: { description: 'Where it goes.' },
  status: { description: 'pending while it is tried, then delivered or failed.' },
  attempts: { description: 'How often it was tried.' },
  last_attempt_at: { description: 'When it was last tried; null: not yet.' },
  last_status_code: { description: 'What your endpoint answered last; null: nothing.' },
  last_error: { description: 'Why the last try failed; null: it did not.' },
  next_attempt_at: { description: 'When it is tried next; null: not again.' },
  delivered_at: { description: 'When it arrived; null: not yet.' },
  created_at: { description: 'When the job had ended.' },
};

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
  ClipRequest: clipNotes,
  ClipForm: {
    video: { description: 'The video: mp4, mov, avi, mkv or webm, at most 2 GiB. Either this or video_url.' },
    music: { description: 'Background music: MP3, WAV or AAC, at most 100 MB, mixed in at 30% volume.' },
    ...Object.fromEntries(
      Object.entries(clipFormPaths).flatMap(([name, path]) => {
        const note = clipNotes[path];
        return note === undefined ? [] : [[name, note]];
      }),
    ),
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
    stage: {
      description:
        'What is being done just now; only while processing, and only where a worker has said so within the last minute.',
    },
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
  CancelledClipJob: {
    job_id: jobNotes.job_id,
    status: { description: 'Always completed: a clip job does not fail, its clips do.' },
    cancelled_clips: { description: 'How many clips were cancelled.' },
    refunded_cents: { description: 'What was given back.' },
  },
  CancelledFaceSwap: {
    job_id: jobNotes.job_id,
    status: { description: 'Always failed.' },
    refunded_cents: { description: 'What was given back.' },
  },
  Cancelling: { job_id: jobNotes.job_id, status: { description: 'Always cancelling.' } },
  FaceSwapRequest: faceSwapNotes,
  FaceSwapForm: {
    video: { description: 'The video: mp4, mov, webm or avi, at most 500 MB and 300 seconds.' },
    face_image: {
      description:
        'The image with the face: jpg, png or webp, at most 500 MB. A photo of one face, well lit, seen from the front.',
    },
    ...faceSwapNotes,
  },
  FaceSwapCreated: {
    job_id: { description: 'Ask for the job with it.' },
    mode: { description: 'The mode that is used.' },
    duration_seconds: { description: "The video's duration rounded up: what is charged for." },
    cost_cents: { description: 'What was charged: 20 for each second.' },
    status: { description: 'Always processing.' },
  },
  FaceSwapJob: {
    ...jobNotes,
    status: { description: 'processing, then completed or failed.' },
    progress: { description: 'Percentage; it may not advance linearly. Only while processing.' },
    download_url: {
      description: 'Where to get the video, for 7 days from now; when completed. Gone 30 days after that.',
    },
    error: { description: 'Why there is no video; when failed. The money was given back.' },
  },
  JobList: {
    jobs: { description: 'The jobs of this page.' },
    'jobs.job_id': jobNotes.job_id,
    'jobs.kind': { description: 'clip or face_swap.' },
    'jobs.status': { description: 'As the job itself shows it.' },
    'jobs.num_clips': { description: 'Clips that were ordered; of clip jobs.' },
    'jobs.progress': { description: 'How far it is; of clip jobs, while processing.' },
    'jobs.progress.completed': { description: 'Clips that have ended.' },
    'jobs.progress.total': { description: 'Clips that were ordered.' },
    'jobs.cost_cents': { description: 'What was charged for it.' },
    'jobs.created_at': jobNotes.created_at,
    'jobs.finished_at': { description: 'When it ended; null: not yet.' },
    ...page,
  },
  TransactionList: {
    transactions: { description: 'The entries of this page.' },
    ...below('transactions.', {
      event_id: { description: "The entry's id in the ledger." },
      seq: { description: 'Its number in your wallet, from 1 on, without gaps.' },
      type: {
        description:
          'What it is, such as WalletToppedUp, WalletDebited, WalletRefunded or ChargeCaptured (earned; moves no money).',
      },
      amount_cents: { description: 'What it added to the balance; below zero for a charge.' },
      balance_cents: { description: 'The balance after it.' },
      job_id: { description: 'The job that it is about; null: none.' },
      clip_id: { description: 'The one clip that it is about; null: none, or several.' },
      debit_id: { description: 'The event_id of the charge that it belongs to; null: none.' },
      reference: { description: 'The payment of a top-up; null: it is none.' },
      reason: { description: 'Why, where somebody said so.' },
      occurred_at: { description: 'When.' },
    }),
    ...page,
  },
  Delivery: deliveryNotes,
  DeliveryList: {
    deliveries: { description: 'The deliveries of this page.' },
    ...below('deliveries.', deliveryNotes),
    ...page,
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
