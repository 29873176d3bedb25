import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const labelled = z.object({
  file: z.string(),
  kind: z.string(),
  /** Where a streamer's camera is laid over the picture, in its pixels. */
  facecam_box: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }).optional(),
  segments: z
    .array(
      z.object({
        start: z.number(),
        end: z.number(),
        /** Which half of the picture the speaker sits in. */
        active_face_x: z.enum(['left half', 'right half']).optional(),
      }),
    )
    .default([]),
});

/** What is known of a video that a camera is planned for; times in seconds. */
export type CameraTruth = z.infer<typeof labelled>;

/** The videos of a media folder, with what is known of them. */
export async function readCameraTruth(folder: string): Promise<readonly CameraTruth[]> {
  const manifest = z.object({ files: z.array(labelled) });
  const { files } = manifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')));
  return files.filter(({ file, kind }) => kind.startsWith('video-') && !file.startsWith('hostile/'));
}
