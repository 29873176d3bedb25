import { type Loudness, parseLoudness } from '../loudness.ts';

/** What the first pass found in the two parts of a clip's sound; the music as loud as it is mixed in. */
export type MixMeasure = {
  /** `silent` also where the source has no sound. */
  readonly source: Loudness;
  /** `silent` also where there is no music. */
  readonly music: Loudness;
};

export const silentMix: MixMeasure = { source: 'silent', music: 'silent' };

/** The filters' names in the graph, by which ffmpeg begins what each of them prints. */
export const measureNames = { source: 'loudnorm@source', music: 'loudnorm@music' } as const;

/** Reads what the first pass leaves at the end of stderr. Pure. */
export function parseMixMeasure(stderr: string): MixMeasure {
  return { source: loudnessOf(measureNames.source, stderr), music: loudnessOf(measureNames.music, stderr) };
}

function loudnessOf(name: string, stderr: string): Loudness {
  const from = stderr.lastIndexOf(`[${name} @`);
  if (from < 0) return 'silent';
  const end = stderr.indexOf('}', from);
  return parseLoudness(stderr.slice(from, end < 0 ? undefined : end + 1));
}

/** Integrated loudness in LUFS; null where there is nothing to hear or no sensible figure. Pure. */
export function lufsOf(loudness: Loudness): number | null {
  return typeof loudness === 'string' ? null : Number(loudness.input_i);
}
