import { describe, expect, test } from 'vitest';
import { LoudnessMeter } from '#workers/media/speech/loudness-meter.ts';

/** A second of a sine. */
const sine = (frequency: number, amplitude: number) =>
  Float32Array.from(
    { length: 16_000 },
    (_, at) => amplitude * Math.sin((2 * Math.PI * frequency * at) / 16_000),
  );

function curve(...sounds: readonly Float32Array[]): readonly number[] {
  const meter = new LoudnessMeter();
  for (const sound of sounds) meter.push(sound);
  return meter.finish();
}

describe('loudness', () => {
  test('a full-scale sine of 997 Hz in one channel has -3.01 LUFS, as the standard says', () => {
    const values = curve(sine(997, 1), sine(997, 1));
    expect(values).toHaveLength(20);
    expect(values[10]).toBeCloseTo(-3.01, 1);
  });

  test('half the amplitude is 6 dB less', () => {
    expect(curve(sine(997, 0.5), sine(997, 0.5))[10]).toBeCloseTo(-9.03, 1);
  });

  test('deep sounds count less', () => {
    expect(curve(sine(30, 1), sine(30, 1))[10]).toBeLessThan(-8);
  });

  test('silence is at the bottom, and the change is seen within 200 ms', () => {
    const values = curve(new Float32Array(16_000), sine(997, 1));
    expect(values[5]).toBe(-100);
    expect(values[12]).toBeGreaterThan(-4);
  });
});
