import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { type SourceAnalysis, sourceAnalysisSchema } from '#workers/media/analysis/analysis-schema.ts';
import { analysed } from './analysis-quality.ts';

const media = resolve(import.meta.dirname, '../../workers/media');

/**
 * A video's analysis, made once and kept in the machine's temporary folder for as long as neither the video nor
 * the analysis's own code changes: measuring a camera again takes seconds then, not minutes.
 */
export async function keptAnalysis(path: string): Promise<SourceAnalysis> {
  const { size, mtimeMs } = await stat(path);
  const key = createHash('sha256')
    .update(`${path} ${size} ${mtimeMs} ${await codeHash()}`)
    .digest('hex');
  const folder = join(tmpdir(), 'clipledger-analyses');
  const file = join(folder, `${basename(path)}-${key.slice(0, 16)}.json`);
  if (existsSync(file)) return sourceAnalysisSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  const { analysis } = await analysed(path);
  await mkdir(folder, { recursive: true });
  await writeFile(`${file}.part`, JSON.stringify(analysis));
  await rename(`${file}.part`, file);
  return analysis;
}

async function codeHash(): Promise<string> {
  const hash = createHash('sha256');
  const entries = await readdir(media, { recursive: true });
  for (const name of entries.filter((each) => each.endsWith('.ts')).sort()) {
    hash.update(name).update(await readFile(join(media, name)));
  }
  return hash.digest('hex');
}
