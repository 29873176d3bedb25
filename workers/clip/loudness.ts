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
