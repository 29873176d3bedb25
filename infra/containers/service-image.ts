import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildImage, type Engine, imageId } from './engine.ts';
import type { ImageProvider } from './provide-image.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Builds the project's own image from this checkout, under `tag`. The daemon keeps layers: where nothing
 * changed this takes a second. The image that bore the tag before is removed.
 */
export async function buildServiceImage(
  engine: Engine,
  images: ImageProvider,
  tag: string,
  say: (line: string) => void,
): Promise<void> {
  await images.provide('node');
  const startedAt = performance.now();
  const before = await imageId(engine, tag);
  await buildImage(engine, { tag, contextFolder: repository, files: await contextFiles(), labels: {} });
  const after = await imageId(engine, tag);
  if (before !== undefined && before !== after) {
    // A container of another run may still use it: then it stays, and the daemon's prune takes it later.
    await engine
      .getImage(before)
      .remove()
      .catch(() => undefined);
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  say(`image ${tag}: built from this checkout's Dockerfile in ${seconds} s`);
}

/** What .dockerignore lets in (its lines with `!`); the API's caller packs the context, not the daemon. */
async function contextFiles(): Promise<string[]> {
  const rules = (await readFile(join(repository, '.dockerignore'), 'utf8')).split('\n');
  const letIn = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
  return ['Dockerfile', '.dockerignore', ...letIn].filter((name) => existsSync(join(repository, name)));
}
