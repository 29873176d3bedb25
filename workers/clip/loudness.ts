import { z } from 'zod';

const decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
const measured = z.object({
  input_i: decimal,
  input_tp: decimal,
  input_lra: decimal,
  input_thresh: decimal,
  target_offset: decimal,
});

/** What loudnorm's first pass found, as the strings that its second pass takes. */
export type LoudnessMeasure = Readonly<z.infer<typeof measured>>;

/**
 * How a cut's sound is normalised: evenly by its measure, not at all where there is nothing to hear, or as it
 * plays where the measure is beyond what loudnorm takes (damaged sound can be louder than full scale).
 */
export type Loudness = LoudnessMeasure | 'silent' | 'unusual';

/** Quieter than this is noise that amplifying would only make audible. */
const quietestLufs = -60;
const loudestLufs = 0;
const widestRange = 99;

/** Reads the JSON that loudnorm leaves at the end of stderr. Pure. */
export function parseLoudness(stderr: string): Loudness {
  const json = stderr.slice(stderr.lastIndexOf('{'), stderr.lastIndexOf('}') + 1);
  const parsed = measured.safeParse(parseJson(json));
  // Silence is measured as "-inf", which fails the decimals above.
  if (!parsed.success || Number(parsed.data.input_i) < quietestLufs) return 'silent';
  const { input_i: loudness, input_tp: peak, input_lra: range } = parsed.data;
  const usual =
    Number(loudness) <= loudestLufs && Number(peak) <= widestRange && Number(range) <= widestRange;
  return usual ? parsed.data : 'unusual';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type MeasuredLoudness = { readonly lufs: number | null; readonly truePeakDbfs: number | null };

/** Reads the summary that ebur128 leaves at the end of stderr. Pure. */
export function parseEbur128(stderr: string): MeasuredLoudness {
  const summary = stderr.slice(stderr.lastIndexOf('Summary:'));
  const lufs = Number(/I:\s+(-?[\d.]+) LUFS/.exec(summary)?.[1] ?? Number.NaN);
  const peak = Number(/Peak:\s+(-?[\d.]+) dBFS/.exec(summary)?.[1] ?? Number.NaN);
  // Its scale ends at -70: that is what silence reads.
  return {
    lufs: Number.isFinite(lufs) && lufs > -70 ? lufs : null,
    truePeakDbfs: Number.isFinite(peak) ? peak : null,
  };
}
