import { describe, expect, test } from 'vitest';
import { parseEbur128, parseLoudness } from '#workers/clip/loudness.ts';

function loudnorm(values: Readonly<Record<string, string>> = {}): string {
  const measured = {
    input_i: '-27.61',
    input_tp: '-4.47',
    input_lra: '18.06',
    input_thresh: '-39.20',
    output_i: '-16.58',
    normalization_type: 'dynamic',
    target_offset: '0.58',
    ...values,
  };
  return `size=N/A time=00:00:11.00\n[Parsed_loudnorm_0 @ 0x1] \n${JSON.stringify(measured, null, '\t')}\n`;
}

describe('loudnorm', () => {
  test('what was measured is passed on', () => {
    expect(parseLoudness(loudnorm())).toEqual({
      input_i: '-27.61',
      input_tp: '-4.47',
      input_lra: '18.06',
      input_thresh: '-39.20',
      target_offset: '0.58',
    });
  });

  test('silence, near-silence and no answer are nothing to normalise', () => {
    expect(parseLoudness(loudnorm({ input_i: '-inf', input_tp: '-inf' }))).toBe('silent');
    expect(parseLoudness(loudnorm({ input_i: '-63.20' }))).toBe('silent');
    expect(parseLoudness('')).toBe('silent');
  });

  test('damaged sound beyond full scale is not given to the second pass', () => {
    expect(parseLoudness(loudnorm({ input_i: '29.95' }))).toBe('unusual');
  });
});

describe('ebur128', () => {
  const summary = (loudness: string, peak: string) =>
    `[Parsed_ebur128_0 @ 0x1] Summary:\n\n  Integrated loudness:\n    I:         ${loudness} LUFS\n    Threshold: -24.1 LUFS\n\n  True peak:\n    Peak:       ${peak} dBFS\n`;

  test('loudness and true peak are read', () => {
    expect(parseEbur128(summary('-14.0', '-1.5'))).toEqual({ lufs: -14, truePeakDbfs: -1.5 });
  });

  test('silence has none', () => {
    expect(parseEbur128(summary('-70.0', '-inf'))).toEqual({ lufs: null, truePeakDbfs: null });
  });
});
