import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import type { Figure } from './analysis-quality.ts';
import { readManifest } from './media-manifest.ts';
import { type SoundTrial, soundFigures } from './sound-quality.ts';

/** As long as the shortest speech that is worth mixing; music is repeated where it is shorter. */
const seconds = 20;
/** Every piece of music is mixed with so many recordings of speech. */
const speeches = 2;

/** Measures the mix of a media folder's music with speech, with silence, and of speech alone. */
export async function measureSound(folder: string, only: readonly string[]): Promise<readonly Figure[]> {
  const files = (await readManifest(folder)).filter(
    ({ file }) => only.length === 0 || only.some((part) => file.includes(part)),
  );
  const ofKind = (kind: string): readonly string[] =>
    files.filter((each) => each.kind === kind).map(({ file }) => file);
  const spoken = ofKind('audio-speech').slice(0, speeches);
  const music = ofKind('audio-music');
  const trials: readonly SoundTrial[] = [
    ...spoken.map((source) => ({ source, music: null, seconds })),
    ...music.flatMap((song) => [null, ...spoken].map((source) => ({ source, music: song, seconds }))),
  ];
  const taskFolder = await mkdtemp(join(tmpdir(), 'quality-'));
  try {
    const tools = await locateMediaTools({}, process.env['PATH'] ?? '');
    return await soundFigures(folder, trials, { tools, taskFolder, signal: new AbortController().signal });
  } finally {
    await rm(taskFolder, { recursive: true, force: true });
  }
}
