import { z } from 'zod';
import type { EgressAllow } from '#infra/egress/forbidden-url.ts';
import type { ClipOptions } from '#schemas/records.ts';
import { type Answer, answers, type FieldError } from './answers.ts';
import { checkFields, flag, httpUrl, integerBetween, objectOf, oneOf, textUpTo } from './field-rules.ts';
import { noVideo, sourceErrors } from './source-fields.ts';
import type { UploadedFile } from './uploads/received-form.ts';

/** What `POST /v1/clip` takes, and what of it this version can do. */

const colors = [
  'white',
  'black',
  'red',
  'orange',
  'yellow',
  'green',
  'teal',
  'blue',
  'purple',
  'pink',
] as const;
const fonts = [
  'Proxima Nova',
  'Montserrat',
  'Luckiest Guy',
  'Everlasting',
  'Komika',
  'Burbank',
  'Bebas Neue',
  'Anton',
] as const;
const styles = ['viral', 'business', 'general', 'gaming'] as const;
const cameraModes = ['standard', 'facecam', 'speaker-zoom', 'center-crop', 'active-speaker'] as const;

const PROMPT_CHARACTERS = 5_000;
const HEADING_CHARACTERS = 500;
const INSTRUCTION_CHARACTERS = 1_500;

const heading = objectOf({
  text: textUpTo(HEADING_CHARACTERS).optional(),
  style: oneOf(['stroke', 'instagram']).optional(),
  color: oneOf(colors).optional(),
  font: oneOf(fonts).optional(),
  position: oneOf(['top', 'middle', 'bottom']).optional(),
  bg_color: oneOf(['black', 'white']).optional(),
  instructions: textUpTo(INSTRUCTION_CHARACTERS).optional(),
});

const captions = objectOf({
  enabled: flag().optional(),
  color: oneOf(colors).optional(),
  font: oneOf(fonts).optional(),
});

/** The JSON body as the interface's table has it. Defaults come later, so that it shows what was explicit. */
export const clipRequestBody = objectOf({
  video_url: httpUrl().optional(),
  num_clips: integerBetween(1, 10).optional(),
  style: oneOf(styles).optional(),
  length: integerBetween(10, 180).optional(),
  prompt: textUpTo(PROMPT_CHARACTERS).optional(),
  camera_mode: oneOf(cameraModes).optional(),
  hook_length: integerBetween(2, 15).optional(),
  auto_heading: flag().optional(),
  heading: heading.optional(),
  captions: captions.optional(),
  music_url: httpUrl().optional(),
  callback_url: httpUrl().optional(),
});
export type ClipRequestBody = z.output<typeof clipRequestBody>;

export const clipResponseBody = z.object({
  job_id: z.uuid(),
  num_clips: z.int(),
  cost_cents: z.int(),
  status: z.literal('processing'),
});
export type ClipResponseBody = z.output<typeof clipResponseBody>;

/** The files that came with the request instead of their URLs. */
export type ClipFiles = Readonly<{ video?: UploadedFile | undefined; music?: UploadedFile | undefined }>;
export type ClipFileField = keyof ClipFiles;

/** What is asked for, and where its end is to be announced. */
export type ClipRequest = Readonly<{ options: ClipOptions; callbackUrl: string | null }>;

/** The clip job that a request's body asks for, or the answer that refuses it. */
export function parseClipRequest(
  body: unknown,
  egressAllow: EgressAllow,
): ClipRequest | Readonly<{ refused: Answer }> {
  const read = readClipRequest(body, {}, egressAllow);
  if ('invalid' in read) return { refused: answers.invalid(read.invalid) };
  if ('missing' in read) return { refused: answers.notAvailableYet(read.missing) };
  return read;
}

/** `invalid`: what is wrong with it (400). `missing`: what is right and does not exist yet (501), looked at after that. */
export type ReadClipRequest =
  | ClipRequest
  | Readonly<{ invalid: readonly FieldError[] }>
  | Readonly<{ missing: readonly FieldError[] }>;

/** The clip job that a body asks for, and the files that came with it. */
export function readClipRequest(body: unknown, files: ClipFiles, egressAllow: EgressAllow): ReadClipRequest {
  const checked = checkClipRequest(body, clipFileFields(files), egressAllow);
  if ('errors' in checked) return { invalid: checked.errors };
  if (checked.value.video_url === undefined && files.video === undefined) return { invalid: [noVideo] };
  const missing = notAvailableYet(checked.value, files);
  if (missing.length > 0) return { missing };
  return {
    options: clipOptions(checked.value, files),
    callbackUrl: checked.value.callback_url ?? null,
  };
}

/** What is wrong with the fields that are there, whatever else may come. */
export function checkClipRequest(
  body: unknown,
  fileFields: readonly ClipFileField[],
  egressAllow: EgressAllow,
): Readonly<{ value: ClipRequestBody }> | Readonly<{ errors: readonly FieldError[] }> {
  const checked = checkFields(clipRequestBody, body === undefined ? {} : body);
  if ('errors' in checked) return checked;
  const errors = sourceErrors(['video', 'music', 'callback'], checked.value, fileFields, egressAllow);
  return errors.length > 0 ? { errors } : checked;
}

const clipFileFields = (files: ClipFiles): readonly ClipFileField[] =>
  (['video', 'music'] as const).filter((field) => files[field] !== undefined);

const availableCameraModes: readonly string[] = ['standard', 'center-crop'];

/** What was asked for explicitly and does not exist yet. A paid request must not be served by halves. */
function notAvailableYet(body: ClipRequestBody, { music }: ClipFiles): readonly FieldError[] {
  const found: FieldError[] = [];
  const refuse = (path: string, what: string, instead: string) =>
    found.push({ path, message: `${what} is not available yet; ${instead}.` });
  const refuseField = (path: string) => refuse(path, path, 'leave it out');
  if (body.style !== undefined) refuseField('style');
  if (body.prompt !== undefined) refuseField('prompt');
  if (body.camera_mode !== undefined && !availableCameraModes.includes(body.camera_mode))
    refuse('camera_mode', `camera_mode ${body.camera_mode}`, `use ${availableCameraModes.join(' or ')}`);
  if (body.hook_length !== undefined) refuseField('hook_length');
  if (body.auto_heading === true)
    refuse('auto_heading', 'auto_heading true', 'leave it out to get each clip its title as heading text');
  for (const field of Object.keys(body.heading ?? {})) refuseField(`heading.${field}`);
  if (body.captions?.enabled === true)
    refuse('captions.enabled', 'captions.enabled true', 'leave it out or send false');
  if (body.music_url !== undefined) refuseField('music_url');
  if (music !== undefined) refuseField('music');
  return found;
}

/** The job's options with their defaults. Caption colours without captions mean nothing and are not kept. */
const clipOptions = (body: ClipRequestBody, { video }: ClipFiles): ClipOptions => ({
  video_url: body.video_url ?? null,
  video_object_key: video?.objectKey ?? null,
  video_file_name: video?.fileName ?? null,
  num_clips: body.num_clips ?? 1,
  style: body.style ?? 'viral',
  length_seconds: body.length ?? null,
  prompt: body.prompt ?? null,
  camera_mode: body.camera_mode ?? 'standard',
  hook_length_seconds: body.hook_length ?? null,
  auto_heading: body.auto_heading ?? true,
  heading: null,
  captions: null,
  music_url: null,
  music_object_key: null,
});
