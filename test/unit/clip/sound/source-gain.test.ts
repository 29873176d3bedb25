import { describe, expect, test } from 'vitest';
import { integrated, type LoudnessCurve, parseCurve } from '#workers/clip/sound/mix-measure.ts';
import { sourceGain } from '#workers/clip/sound/source-gain.ts';

/** As ebur128 and ametadata write it. */
const written = (momentary: readonly (number | string)[], peak: number | string) =>
  momentary
    .map(
      (lufs, index) =>
        `frame:${index} pts:${index * 4800}\nlavfi.r128.M=${lufs}\nlavfi.r128.I=-70.0\nlavfi.r128.sample_peak=${peak}\n`,
    )
    .join('');

const steady = (lufs: number, peakDbfs = lufs + 6): LoudnessCurve => ({
  momentary: Array(100).fill(lufs),
  peakDbfs,
});

describe('a part of the mix', () => {
  test('is read with its highest peak', () => {
    const curve = parseCurve(written([-120.691, -20.5, -21], 0.5));
    expect(curve?.momentary).toEqual([-20.5, -21]);
    expect(curve?.peakDbfs).toBeCloseTo(-6.02, 2);
  });

  test('is nothing where it is silent, or quieter than what noise is', () => {
    expect(parseCurve('')).toBeNull();
    expect(parseCurve(written([-120.691, '-inf', 'nan'], 0))).toBeNull();
    expect(parseCurve(written([-63, -64], 0.001))).toBeNull();
  });

  test('is as loud as where it is loud: pauses do not count', () => {
    expect(integrated([...Array(50).fill(-20), ...Array(50).fill(-45)])).toBeCloseTo(-20, 5);
  });
});

describe('the source’s gain', () => {
  test('brings it to −14 LUFS alone', () => {
    expect(sourceGain({ source: steady(-23.5), music: null })).toBeCloseTo(9.5, 5);
    expect(sourceGain({ source: steady(-8), music: null })).toBeCloseTo(-6, 5);
  });

  test('leaves room for the music, so that both together are at −14 LUFS', () => {
    expect(sourceGain({ source: steady(-24), music: steady(-20) })).toBeCloseTo(8.74, 2);
  });

  test('keeps speech above loud music, and does not shout where little is said', () => {
    expect(sourceGain({ source: steady(-24), music: steady(-12) })).toBeCloseTo(7, 2);
    const fewWords = { momentary: [...Array(10).fill(-24), ...Array(90).fill(-80)], peakDbfs: -20 };
    expect(sourceGain({ source: fewWords, music: steady(-22) })).toBeCloseTo(12, 2);
  });

  test('makes up for what the limiter takes from peaks', () => {
    expect(sourceGain({ source: steady(-24, -8), music: null })).toBeCloseTo(10 + 0.2 * 3.8, 5);
  });

  test('is none for silence', () => {
    expect(sourceGain({ source: null, music: steady(-20) })).toBe(0);
  });
});
