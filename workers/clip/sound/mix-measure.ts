import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How loud a sound is as it goes on. */
export type LoudnessCurve = {
  /** Momentary loudness by EBU R128 (400 ms), in LUFS, a value each 100 ms. */
  readonly momentary: readonly number[];
  /** The highest sample, in dBFS. */
  readonly peakDbfs: number;
};

/** What the first pass found in the two parts of a clip's sound; null where there is nothing to hear. */
export type MixMeasure = {
  readonly source: LoudnessCurve | null;
  /** As loud as the music is mixed in. */
  readonly music: LoudnessCurve | null;
};

export const silentMix: MixMeasure = { source: null, music: null };

/** In the task's folder: what the first pass writes of each part. */
export const measureFiles = { source: 'measured-source.txt', music: 'measured-music.txt' } as const;

/** Reads what the first pass left in the task's folder; a part without a file was not there. */
export async function readMixMeasure(taskFolder: string): Promise<MixMeasure> {
  const [source, music] = await Promise.all(
    [measureFiles.source, measureFiles.music].map((file) =>
      readFile(join(taskFolder, file), 'latin1').then(parseCurve, ignoreMissing),
    ),
  );
  return { source: source ?? null, music: music ?? null };
}

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** Quieter than this is noise that amplifying would only make audible. */
const quietestLufs = -60;
/** What ebur128 says until 400 ms have gone by. */
const noneYet = -120;

/** Reads the lines `lavfi.r128.M=…` and `lavfi.r128.sample_peak=…`; null for silence. Pure. */
export function parseCurve(text: string): LoudnessCurve | null {
  const values = (key: string): number[] =>
    Array.from(text.matchAll(new RegExp(`^lavfi\\.r128\\.${key}=(.+)$`, 'gm')), ([, value]) => Number(value));
  const momentary = values('M').filter((lufs) => Number.isFinite(lufs) && lufs > noneYet);
  const peak = values('sample_peak').at(-1) ?? 0;
  const loudness = integrated(momentary);
  if (loudness === null || loudness < quietestLufs) return null;
  return { momentary, peakDbfs: Number.isFinite(peak) && peak > 0 ? 20 * Math.log10(peak) : 0 };
}

/** Integrated loudness of momentary values, in LUFS, with both gates of EBU R128; null for silence. Pure. */
export function integrated(momentary: readonly number[]): number | null {
  const heard = momentary.filter((lufs) => lufs >= -70);
  const gate = meanLoudness(heard) - 10;
  const loud = heard.filter((lufs) => lufs >= gate);
  return loud.length === 0 ? null : meanLoudness(loud);
}

function meanLoudness(values: readonly number[]): number {
  return decibels(values.reduce((sum, lufs) => sum + power(lufs), 0) / values.length);
}

export const power = (lufs: number): number => 10 ** (lufs / 10);
export const decibels = (value: number): number => 10 * Math.log10(value);
