import { describe, expect, test } from 'vitest';
import { OneEuroMesh } from '#workers/swap/faces/one-euro.ts';
import { reachFrames, smoothedBothWays } from '#workers/swap/faces/two-sided-smoothing.ts';

const eyeDistance = 100;
const trembling = (frame: number): number => 0.5 * (frame % 2 === 0 ? 1 : -1);
const mesh = (x: number): Float32Array => Float32Array.of(x, 50, 0);

describe('the one-euro filter', () => {
  test('holds a trembling face still', () => {
    const filter = new OneEuroMesh(25);
    const out = Array.from(
      { length: 60 },
      (_, frame) => filter.next(mesh(200 + trembling(frame)), eyeDistance)[0] ?? 0,
    );
    const moved = out.slice(30).map((x, at, all) => Math.abs(x - (all[at - 1] ?? x)));
    expect(Math.max(...moved)).toBeLessThan(0.4);
  });

  test('follows a fast face within a few hundredths of the eye distance', () => {
    const filter = new OneEuroMesh(25);
    let [behind, x] = [0, 200];
    for (let frame = 0; frame < 50; frame += 1) {
      x = 200 + frame * 10;
      behind = x - (filter.next(mesh(x), eyeDistance)[0] ?? 0);
    }
    expect(behind / eyeDistance).toBeLessThan(0.05);
  });

  test('forgets what was before a reset', () => {
    const filter = new OneEuroMesh(25);
    filter.next(mesh(0), eyeDistance);
    filter.reset();
    expect(filter.next(mesh(900), eyeDistance)[0]).toBe(900);
  });
});

describe('smoothing by both sides', () => {
  const around = (at: (frame: number) => number): Float32Array[] =>
    Array.from({ length: 2 * reachFrames + 1 }, (_, frame) => mesh(at(frame)));

  test('takes trembling away', () => {
    const smooth = smoothedBothWays(
      around((frame) => 200 + trembling(frame)),
      reachFrames,
      eyeDistance,
    );
    expect(Math.abs((smooth[0] ?? 0) - 200)).toBeLessThan(0.3);
  });

  test('leaves a face where it is that moves on evenly', () => {
    const smooth = smoothedBothWays(
      around((frame) => frame * 2),
      reachFrames,
      eyeDistance,
    );
    expect(smooth[0]).toBeCloseTo(reachFrames * 2, 4);
  });

  test('keeps what happens in one frame only, as lips that close', () => {
    const smooth = smoothedBothWays(
      around((frame) => (frame === reachFrames ? 12 : 0)),
      reachFrames,
      eyeDistance,
    );
    expect(smooth[0]).toBeGreaterThan(11);
  });
});
