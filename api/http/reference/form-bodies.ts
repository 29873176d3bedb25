import { z } from 'zod';
import { clipFormPaths } from '../clip-form.ts';
import { clipRequestBody } from '../clip-request.ts';
import { faceSwapRequestBody } from '../face-swap-request.ts';

/**
 * The bodies of both creates as the document shows them: in JSON the URLs have to be there, and a form has the
 * same fields and files beside them.
 */

const file = () => z.file().optional();

/** What the JSON body of a clip holds at a dotted path. */
function fieldAt(path: string): z.ZodType {
  let schema: z.ZodType = clipRequestBody;
  for (const name of path.split('.')) {
    const object = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
    const inner = object instanceof z.ZodObject ? object.shape[name] : undefined;
    if (!(inner instanceof z.ZodType)) throw new Error(`The JSON body of a clip has no field ${path}.`);
    schema = inner;
  }
  return schema;
}

export const clipJsonBody = clipRequestBody.required({ video_url: true });

export const clipFormBody = z.strictObject({
  video: file(),
  music: file(),
  ...Object.fromEntries(Object.entries(clipFormPaths).map(([name, path]) => [name, fieldAt(path)])),
});

export const faceSwapJsonBody = faceSwapRequestBody.required({ video_url: true, face_image_url: true });

export const faceSwapFormBody = z.strictObject({
  video: file(),
  face_image: file(),
  ...faceSwapRequestBody.shape,
});
