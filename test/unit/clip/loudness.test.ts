import { describe, expect, test } from 'vitest';
import { parseEbur128 } from '#workers/clip/loudness.ts';

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
