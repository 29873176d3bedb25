import { expect, test } from 'vitest';
import { constantRate, exactRate } from '#workers/swap/video/exact-rate.ts';

test.each([
  [25, 25, 1],
  [29.97003, 30000, 1001],
  [23.976, 24000, 1001],
  [59.94, 60000, 1001],
  [12.5, 25, 2],
  [240, 240, 1],
])('%f frames a second are exactly %i/%i', (measured, frames, seconds) => {
  expect(exactRate(measured)).toEqual({ frames, seconds });
});

test('times rounded to milliseconds still are a constant rate', () => {
  const ticks = Array.from({ length: 300 }, (_, frame) => Math.round((frame * 1001) / 30) * 90);
  expect(constantRate(ticks, 29.97)).toEqual({ frames: 30000, seconds: 1001 });
});

test('a pause between frames is no constant rate', () => {
  const ticks = Array.from({ length: 100 }, (_, frame) => frame * 3000 + (frame > 50 ? 9000 : 0));
  expect(constantRate(ticks, 30)).toBeUndefined();
});
