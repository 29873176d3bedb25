import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import manifest from './MANIFEST.json' with { type: 'json' };

/** A model is not there or not the one that the manifest describes: a broken installation. */
export class ModelUnusable extends Error {
  override readonly name = 'ModelUnusable';
}

/** The bytes of a bundled model, after checking them against the manifest. */
export async function readModel(file: string): Promise<Buffer> {
  const entry = manifest.find((listed) => listed.file === file);
  if (entry === undefined) throw new ModelUnusable(`${file} is not in workers/models/MANIFEST.json`);
  const bytes = await readFile(new URL(file, import.meta.url)).catch((cause: unknown) => {
    throw new ModelUnusable(`workers/models/${file} is missing: restore it from the repository`, { cause });
  });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== entry.sha256) {
    throw new ModelUnusable(
      `workers/models/${file} was altered: its SHA-256 is ${sha256}, not ${entry.sha256}`,
    );
  }
  return bytes;
}
