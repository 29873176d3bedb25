import { z } from 'zod';
import type { EgressAllow } from '#infra/egress/forbidden-url.ts';
import { type Answer, answers, type FieldError } from './answers.ts';
import { checkFields, httpUrl, objectOf, oneOf } from './field-rules.ts';
import { requestHash } from './idempotency-key.ts';
import { noFaceImage, noVideo, sourceErrors } from './source-fields.ts';
import type { FileRule, ReceivedForm, UploadedFile } from './uploads/received-form.ts';

/** What `POST /v1/face-swap` takes: two sources, each a URL or, in a form, a file. */

export const faceSwapModes = ['face', 'fullbody'] as const;

/** The JSON body, and what the text fields of a form say, as the interface's table has it. */
export const faceSwapRequestBody = objectOf({
  video_url: httpUrl().optional(),
  face_image_url: httpUrl().optional(),
  mode: oneOf(faceSwapModes).optional(),
  callback_url: httpUrl().optional(),
});
type FaceSwapRequestBody = z.output<typeof faceSwapRequestBody>;

export const faceSwapResponseBody = z.object({
  job_id: z.uuid(),
  mode: z.enum(faceSwapModes),
  duration_seconds: z.int(),
  cost_cents: z.int(),
  status: z.literal('processing'),
});
export type FaceSwapResponseBody = z.output<typeof faceSwapResponseBody>;

export const faceSwapFormFields: readonly string[] = Object.keys(faceSwapRequestBody.shape);
const sourceFields = ['video', 'face_image'] as const;
type SourceField = (typeof sourceFields)[number];

const videoTypes = ['video/mp4', 'video/quicktime', 'video/webm', 'video/x-msvideo'];
const imageTypes = ['image/jpeg', 'image/png', 'image/webp'];
export const faceImageFormats = 'jpg, png or webp';

/** What the form's files may be. */
export const faceSwapFileRules = ({
  FACE_SWAP_MAX_BYTES: maxBytes,
}: {
  readonly FACE_SWAP_MAX_BYTES: number;
}): Readonly<Record<SourceField, FileRule>> => ({
  video: { maxBytes, kind: 'video', contentTypes: videoTypes, what: 'mp4, mov, webm or avi' },
  face_image: { maxBytes, kind: 'image', contentTypes: imageTypes, what: faceImageFormats },
});

export const isFaceImageType = (contentType: string): boolean => imageTypes.includes(contentType);

/** Where one of the two comes from. */
export type SwapSource = Readonly<{ url: string }> | Readonly<{ file: UploadedFile }>;

export type FaceSwapRequest = Readonly<{
  mode: FaceSwapRequestBody['mode'] & string;
  video: SwapSource;
  faceImage: SwapSource;
  /** Where its end is to be announced. */
  callbackUrl: string | null;
}>;

/** The request out of a JSON body, or out of the fields and files of a form; or the answer that refuses it. */
export function parseFaceSwapRequest(
  body: unknown,
  files: ReceivedForm['files'],
  egressAllow: EgressAllow,
): Readonly<{ request: FaceSwapRequest }> | Readonly<{ refused: Answer }> {
  const checked = checkFaceSwapFields(body, [...files.keys()], egressAllow);
  if ('errors' in checked) return { refused: answers.invalid(checked.errors) };
  const video = sourceOf('video', checked.value, files);
  const faceImage = sourceOf('face_image', checked.value, files);
  if (video === undefined || faceImage === undefined) {
    const missing = [video === undefined ? noVideo : [], faceImage === undefined ? noFaceImage : []];
    return { refused: answers.invalid(missing.flat()) };
  }
  const { mode = 'fullbody', callback_url: callbackUrl = null } = checked.value;
  return { request: { mode, video, faceImage, callbackUrl } };
}

/** What is wrong with the fields that are there, whatever else may come. */
export function checkFaceSwapFields(
  body: unknown,
  fileFields: readonly string[],
  egressAllow: EgressAllow,
): Readonly<{ value: FaceSwapRequestBody }> | Readonly<{ errors: readonly FieldError[] }> {
  const checked = checkFields(faceSwapRequestBody, body === undefined ? {} : body);
  if ('errors' in checked) return checked;
  const errors = sourceErrors([...sourceFields, 'callback'], checked.value, fileFields, egressAllow);
  return errors.length > 0 ? { errors } : checked;
}

/** Tells a repeated request from another one; a file counts by its content. */
export function faceSwapHash({ mode, video, faceImage, callbackUrl }: FaceSwapRequest): string {
  const identity = (source: SwapSource) => ('url' in source ? source.url : `sha256:${source.file.sha256}`);
  return requestHash('POST /v1/face-swap', [mode, identity(video), identity(faceImage)], callbackUrl);
}

function sourceOf(
  field: SourceField,
  body: FaceSwapRequestBody,
  files: ReceivedForm['files'],
): SwapSource | undefined {
  const file = files.get(field);
  if (file !== undefined) return { file };
  const url = body[`${field}_url`];
  return url === undefined ? undefined : { url };
}
