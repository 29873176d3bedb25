import type { EgressAllow } from '#infra/egress/forbidden-url.ts';
import { type Answer, answers, type FieldError } from './answers.ts';
import {
  type ClipFileField,
  type ClipFiles,
  type ClipRequest,
  checkClipRequest,
  readClipRequest,
} from './clip-request.ts';
import type { FileRule, ReceivedForm } from './uploads/received-form.ts';

/**
 * `POST /v1/clip` as a form. Its strings become what the JSON body would hold, so that both are checked as
 * one; a string that is no number or no flag stays as it is and is refused there.
 */

/** Where each of the form's fields is in the JSON body, and what its string stands for. */
const formFields: Readonly<Record<string, Readonly<{ path: string; read: (text: string) => unknown }>>> = {
  video_url: text('video_url'),
  num_clips: integer('num_clips'),
  style: text('style'),
  length: integer('length'),
  prompt: text('prompt'),
  camera_mode: text('camera_mode'),
  hook_length: integer('hook_length'),
  auto_heading: flag('auto_heading'),
  heading_text: text('heading.text'),
  heading_style: text('heading.style'),
  heading_color: text('heading.color'),
  heading_font: text('heading.font'),
  heading_position: text('heading.position'),
  heading_bg_color: text('heading.bg_color'),
  heading_instructions: text('heading.instructions'),
  captions_enabled: flag('captions.enabled'),
  captions_color: text('captions.color'),
  captions_font: text('captions.font'),
  music_url: text('music_url'),
  callback_url: text('callback_url'),
};

function text(path: string) {
  return { path, read: (sent: string): unknown => sent };
}

function integer(path: string) {
  return {
    path,
    read: (sent: string): unknown => (/^(0|-?[1-9]\d{0,14})$/.test(sent) ? Number(sent) : sent),
  };
}

function flag(path: string) {
  return {
    path,
    read: (sent: string): unknown => (sent === 'true' ? true : sent === 'false' ? false : sent),
  };
}

export const clipFormFields: readonly string[] = Object.keys(formFields);

/** Where in the JSON body each of the form's fields is. */
export const clipFormPaths: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(formFields).map(([name, { path }]) => [name, path]),
);

/** What the form's files may be. */
export const clipFileRules = (limits: {
  readonly SOURCE_MAX_BYTES: number;
  readonly MUSIC_MAX_BYTES: number;
}): Readonly<Record<ClipFileField, FileRule>> => ({
  video: {
    maxBytes: limits.SOURCE_MAX_BYTES,
    kind: 'video',
    contentTypes: ['video/mp4', 'video/quicktime', 'video/x-msvideo', 'video/x-matroska', 'video/webm'],
    what: 'mp4, mov, avi, mkv or webm',
  },
  music: {
    maxBytes: limits.MUSIC_MAX_BYTES,
    kind: 'audio',
    contentTypes: ['audio/mpeg', 'audio/wav', 'audio/aac', 'audio/mp4'],
    what: 'MP3, WAV or AAC',
  },
});

/** The clip job that a form asks for, or the answer that refuses it. */
export function parseClipForm(
  form: ReceivedForm,
  egressAllow: EgressAllow,
): ClipRequest | Readonly<{ refused: Answer }> {
  const read = readClipRequest(clipBodyOf(form.fields), clipFilesOf(form), egressAllow);
  if ('invalid' in read) return { refused: answers.invalid(read.invalid.map(inFormTerms)) };
  return read;
}

/** What is wrong already with the fields that came before a file; no later part can make that good. */
export function refuseClipFormEarly(
  fields: ReadonlyMap<string, string>,
  fileFields: readonly string[],
  egressAllow: EgressAllow,
): Answer | undefined {
  const checked = checkClipRequest(clipBodyOf(fields), fileFields as ClipFileField[], egressAllow);
  return 'errors' in checked ? answers.invalid(checked.errors.map(inFormTerms)) : undefined;
}

export const clipFilesOf = ({ files }: ReceivedForm): ClipFiles => ({
  video: files.get('video'),
  music: files.get('music'),
});

/** The JSON body that says the same. */
export function clipBodyOf(fields: ReadonlyMap<string, string>): Readonly<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const [name, sent] of fields) {
    const field = formFields[name];
    if (field === undefined) continue;
    const [first = '', second] = field.path.split('.');
    if (second === undefined) body[first] = field.read(sent);
    else body[first] = { ...(body[first] as object | undefined), [second]: field.read(sent) };
  }
  return body;
}

/** The same error with the name that the field has in the form: `heading_color` for `heading.color`. */
function inFormTerms({ path, message }: FieldError): FieldError {
  const name = Object.keys(formFields).find((field) => formFields[field]?.path === path) ?? path;
  return { path: name, message: message.startsWith(path) ? `${name}${message.slice(path.length)}` : message };
}
