/** Rates that players and platforms take, as ffmpeg writes them. */
const standardRates: readonly (readonly [number, string])[] = [
  [24_000 / 1001, '24000/1001'],
  [24, '24'],
  [25, '25'],
  [30_000 / 1001, '30000/1001'],
  [30, '30'],
  [50, '50'],
  [60_000 / 1001, '60000/1001'],
  [60, '60'],
];

/**
 * The clip's constant frame rate for a source's average one: the same where it is a standard rate, a whole
 * multiple of a slow one (15 → 30), else the next standard rate above, at most 60. Pure.
 */
export function outputFrameRate(sourceRate: number): string {
  const near = (rate: number, target: number) => Math.abs(rate - target) / target < 0.0006;
  const same = standardRates.find(([rate]) => near(sourceRate, rate));
  if (same !== undefined) return same[1];
  const multiple = standardRates.find(([rate]) => {
    const times = Math.round(rate / sourceRate);
    return sourceRate < 24 && times >= 2 && near(sourceRate * times, rate);
  });
  if (multiple !== undefined) return multiple[1];
  return standardRates.find(([rate]) => Number.isInteger(rate) && rate >= sourceRate * 0.98)?.[1] ?? '60';
}
