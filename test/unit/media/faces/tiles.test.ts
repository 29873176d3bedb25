import { expect, test } from 'vitest';
import { tiles } from '#workers/media/faces/face-detector.ts';

test.each([
  [640, 360, 8],
  [360, 640, 8],
  [640, 640, 4],
  [640, 16, 8],
  [16, 640, 8],
])('tiles cover a frame of %dx%d, and are few', (width, height, count) => {
  const squares = tiles({ width, height });
  expect(squares.length).toBeLessThanOrEqual(count);
  for (const [x, y] of [
    [1, 1],
    [width - 1, height - 1],
    [width / 2, height / 2],
    [width / 3, height - 1],
  ] as const) {
    const covering = squares.filter(
      ({ centre, side }) => Math.abs(centre.x - x) <= side / 2 && Math.abs(centre.y - y) <= side / 2,
    );
    expect(covering.length).toBeGreaterThan(0);
  }
});
