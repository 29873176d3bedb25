import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const utterance = z.object({ start: z.number(), end: z.number(), text: z.string() });

/** A folder of media with what is known of each file. */
const manifest = z.object({
  files: z.array(
    z.object({
      file: z.string(),
      kind: z.string(),
      transcript: z.string().nullable().optional(),
      faces: z.union([z.number(), z.string()]).nullable().optional(),
    }),
  ),
});

export type MediaFile = z.infer<typeof manifest>['files'][number];

/** The files of a media folder. */
export async function readManifest(folder: string): Promise<readonly MediaFile[]> {
  const path = join(folder, 'manifest.json');
  if (!existsSync(path)) throw new Error(`${path} is missing: give a folder of media with --media DIR.`);
  return manifest.parse(JSON.parse(await readFile(path, 'utf8'))).files;
}

const programmeTruth = z.object({
  segments: z.array(
    z.object({
      start: z.number(),
      end: z.number().optional(),
      topic: z.string().default(''),
      speech: z.string().default(''),
      utterances: z.array(utterance).default([]),
    }),
  ),
});

export type Programme = z.infer<typeof programmeTruth>;

/** What is known of a long programme, from the `.truth.json` beside it; undefined where there is none. */
export async function readTruth(video: string): Promise<Programme | undefined> {
  const path = video.replace(/\.\w+$/, '.truth.json');
  return existsSync(path) ? programmeTruth.parse(JSON.parse(await readFile(path, 'utf8'))) : undefined;
}
