import { describe, expect, it } from 'vitest';
import { cameraPath, medianOfThree } from '#workers/clip/camera/camera-path.ts';
import { reducePath } from '#workers/clip/camera/reduce-path.ts';

const following = { stepMs: 125, boxLength: 400 };
const steps = (count: number, value: (step: number) => number): number[] =>
  Array.from({ length: count }, (_, step) => value(step));

describe('cameraPath', () => {
  it('does not tremble with its target', () => {
    const path = cameraPath(
      steps(80, (step) => 600 + 15 * Math.sin(step)),
      following,
    );
    expect(Math.max(...path) - Math.min(...path)).toBeLessThan(0.01);
  });

  it('does not believe a jump that is over after two samples', () => {
    const path = cameraPath(
      steps(80, (step) => (step === 40 || step === 41 ? 1000 : 600)),
      following,
    );
    expect(Math.max(...path)).toBeLessThan(601);
  });

  it('goes where its target has gone for good, no faster than 0.4 boxes a second, without swinging', () => {
    const path = cameraPath(
      steps(80, (step) => (step < 40 ? 600 : 900)),
      following,
    );
    expect(path.at(0)).toBeCloseTo(600, 1);
    expect(path.at(-1)).toBeCloseTo(900, 0);
    for (const [step, value] of path.entries()) {
      const moved = value - (path[step - 1] ?? value);
      expect(moved).toBeGreaterThanOrEqual(-0.01);
      expect(moved).toBeLessThanOrEqual(0.4 * 400 * 0.125 + 0.01);
    }
  });

  it('replaces single wrong values by their neighbours', () => {
    expect(medianOfThree([1, 9, 1, 1, 5, 6])).toEqual([1, 1, 1, 1, 5, 6]);
  });
});

describe('reducePath', () => {
  const box = (x: number): { x: number; y: number; width: number; height: number } => ({
    x,
    y: 0,
    width: 400,
    height: 720,
  });

  it('keeps few keyframes, and no box further off than half a pixel', () => {
    const full = steps(200, (step) => 300 * (1 - Math.cos(step / 60))).map((x, step) => ({
      at_ms: step * 125,
      box: box(x),
    }));
    const reduced = reducePath(full);
    expect(reduced.length).toBeLessThan(30);
    for (const { at_ms, box: exact } of full) {
      const after = Math.max(
        1,
        reduced.findIndex((each) => each.at_ms >= at_ms),
      );
      const [last, next] = [reduced[after - 1], reduced[after]];
      if (last === undefined || next === undefined) throw new Error('the path does not cover its own times');
      const part = (at_ms - last.at_ms) / (next.at_ms - last.at_ms);
      expect(Math.abs(last.box.x + (next.box.x - last.box.x) * part - exact.x)).toBeLessThanOrEqual(0.5);
    }
  });

  it('keeps one keyframe of a camera that stands', () => {
    expect(reducePath([0, 125, 250].map((at_ms) => ({ at_ms, box: box(10) })))).toEqual([
      { at_ms: 0, box: box(10) },
    ]);
  });
});
