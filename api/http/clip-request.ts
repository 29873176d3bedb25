import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { EgressAllow } from '#infra/egress/forbidden-url.ts';
import type { CaptionOptions, ClipOptions, HeadingOptions } from '#schemas/records.ts';
import { type Answer, answers, type FieldError } from './answers.ts';
import { checkFields, flag, httpUrl, integerBetween, objectOf, oneOf, textUpTo } from './field-rules.ts';
import { noVideo, sourceErrors } from './source-fields.ts';
import type { UploadedFile } from './uploads/received-form.ts';

/** What `POST /v1/clip` takes. */

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
  return read;
}

/** `invalid`: what is wrong with it. */
export type ReadClipRequest = ClipRequest | Readonly<{ invalid: readonly FieldError[] }>;

/** The clip job that a body asks for, and the files that came with it. */
export function readClipRequest(body: unknown, files: ClipFiles, egressAllow: EgressAllow): ReadClipRequest {
  const checked = checkClipRequest(body, clipFileFields(files), egressAllow);
  if ('errors' in checked) return { invalid: checked.errors };
  if (checked.value.video_url === undefined && files.video === undefined) return { invalid: [noVideo] };
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

/** The job's options with their defaults. What changes nothing is not kept: it makes the same request. */
const clipOptions = (body: ClipRequestBody, { video, music }: ClipFiles): ClipOptions => ({
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
  heading: headingOptions(body.heading ?? {}),
  captions: captionOptions(body.captions ?? {}),
  music_url: body.music_url ?? null,
  music_object_key: music?.objectKey ?? null,
});

const defaultHeading: HeadingOptions = {
  text: null,
  style: 'stroke',
  color: 'white',
  font: 'Montserrat',
  position: 'top',
  bg_color: 'black',
  instructions: null,
};

/** Null where all of it is as it is by default. */
function headingOptions(heading: NonNullable<ClipRequestBody['heading']>): HeadingOptions | null {
  const filled: HeadingOptions = {
    text: heading.text ?? defaultHeading.text,
    style: heading.style ?? defaultHeading.style,
    color: heading.color ?? defaultHeading.color,
    font: heading.font ?? defaultHeading.font,
    position: heading.position ?? defaultHeading.position,
    bg_color: heading.bg_color ?? defaultHeading.bg_color,
    instructions: heading.instructions ?? defaultHeading.instructions,
  };
  return isDeepStrictEqual(filled, defaultHeading) ? null : filled;
}

/** Colours without captions mean nothing and are not kept. */
function captionOptions(captions: NonNullable<ClipRequestBody['captions']>): CaptionOptions | null {
  if (captions.enabled !== true) return null;
  return { enabled: true, color: captions.color ?? 'white', font: captions.font ?? 'Montserrat' };
}
