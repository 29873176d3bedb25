import { z } from 'zod';

/** What is known of a model file: who made it, under which licence, and what exactly its bytes are. */
const modelEntry = z.object({
  /** `model.onnx`, or `folder/model.onnx` for a model of several files; never out of the manifest's own folder. */
  file: z
    .string()
    .regex(
      /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/,
      "must be a file in the manifest's folder or below, without . or .. as a part",
    ),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex'),
  source: z.string().min(1),
  licence: z.string().min(1),
});

export type ModelEntry = Readonly<z.infer<typeof modelEntry>>;

/** A `MANIFEST.json`: the models of one folder. Further fields are for people. */
export const modelManifest = z.array(modelEntry);
