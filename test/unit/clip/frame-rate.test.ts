import { expect, test } from 'vitest';
import { outputFrameRate } from '#workers/clip/frame-rate.ts';

test.each([
  [23.976, '24000/1001'],
  [24, '24'],
  [25, '25'],
  [29.97, '30000/1001'],
  [30, '30'],
  [50, '50'],
  [59.94, '60000/1001'],
  [60, '60'],
  [120, '60'],
  [240, '60'],
  [15, '30'],
  [12.5, '25'],
  [1, '24'],
  [29.908, '30'],
  [13.33, '24'],
  [27.1, '30'],
  [0.1, '24'],
])('a source of %f frames a second becomes %s', (source, output) => {
  expect(outputFrameRate(source)).toBe(output);
});
