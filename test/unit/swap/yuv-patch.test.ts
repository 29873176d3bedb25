import { describe, expect, test } from 'vitest';
import { readPatch, writePatch, type YuvFrame } from '#workers/swap/video/yuv-patch.ts';

function noise(width: number, height: number): YuvFrame {
  let state = 7;
  const next = (): number => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
  const data = Uint8Array.from({ length: (width * height * 3) / 2 }, (_, at) =>
    at < width * height ? 60 + next() * 120 : 110 + next() * 36,
  );
  return { data, width, height, matrix: 'bt709' };
}

describe('a patch of a frame', () => {
  test('that was not changed leaves every byte of the frame as it was', () => {
    const frame = noise(64, 48);
    const original = frame.data.slice();
    const patch = readPatch(frame, { x: 30, y: 20, side: 30 });
    writePatch(frame, patch, patch.data.slice());
    expect(frame.data).toEqual(original);
  });

  test('goes back within rounding where it was written without change of colour', () => {
    const frame = noise(64, 48);
    const original = frame.data.slice();
    const patch = readPatch(frame, { x: 32, y: 24, side: 40 });
    writePatch(
      frame,
      patch,
      patch.data.map((value) => value ^ 1),
    );
    const worst = Math.max(...frame.data.map((value, at) => Math.abs(value - (original[at] as number))));
    expect(worst).toBeLessThanOrEqual(2);
  });

  test('changes only what lies under its changed pixels', () => {
    const frame = noise(64, 48);
    const original = frame.data.slice();
    const patch = readPatch(frame, { x: 32, y: 24, side: 20 });
    const before = patch.data.slice();
    patch.data.fill(255, 0, 6);
    writePatch(frame, patch, before);
    const changed = [...frame.data.keys()].filter((at) => frame.data[at] !== original[at]);
    // Four pixels of brightness and one of each colour difference at most.
    expect(changed.length).toBeGreaterThan(0);
    expect(changed.length).toBeLessThanOrEqual(6);
  });

  test('is cut off at the frame’s edge and keeps even sides', () => {
    const patch = readPatch(noise(64, 48), { x: 2, y: 47, side: 21 });
    expect([patch.left % 2, patch.top % 2, patch.width % 2, patch.height % 2]).toEqual([0, 0, 0, 0]);
    expect(patch.left + patch.width).toBeLessThanOrEqual(64);
    expect(patch.top + patch.height).toBeLessThanOrEqual(48);
  });
});
