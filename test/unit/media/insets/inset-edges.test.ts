import { describe, expect, it } from 'vitest';
import { InsetFinder } from '#workers/media/insets/inset-finder.ts';

const size = { width: 640, height: 360 };
const inset = { left: 20, top: 220, right: 180, bottom: 340 };
const face = { left: 70, top: 240, right: 120, bottom: 300 };

/** Repeatable noise. */
function noise(seed: number): number {
  const value = Math.sin(seed * 12.9898) * 43_758.5453;
  return value - Math.floor(value);
}

/** A game of large moving squares with a camera's picture over it, or a photograph of both that stands still. */
function frame(sample: number, hasInset: boolean): Uint8Array {
  const data = new Uint8Array(size.width * size.height * 3);
  for (let y = 0; y < size.height; y += 1) {
    for (let x = 0; x < size.width; x += 1) {
      const isInset = hasInset && x >= inset.left && x < inset.right && y >= inset.top && y < inset.bottom;
      const isFace = x >= face.left && x < face.right && y >= face.top && y < face.bottom;
      const game = noise(Math.floor(x / 40) * 31 + Math.floor(y / 40) * 7 + sample * 101) * 120;
      const value = isFace ? 170 + noise(x + y * 640 + sample) * 12 : isInset ? 140 : game;
      data.fill(value, (y * size.width + x) * 3, (y * size.width + x) * 3 + 3);
    }
  }
  return data;
}

function found(
  samples: number,
  hasInset: boolean,
  standsStill = false,
): readonly { from: number; to: number; box: typeof inset }[] {
  const finder = new InsetFinder(size);
  for (let sample = 0; sample < samples; sample += 1) {
    finder.push({ data: frame(standsStill ? 0 : sample, hasInset), ...size }, [face]);
  }
  return finder.finish();
}

describe('InsetFinder', () => {
  it("finds a camera's rectangle over a game to within two pixels of the mean", () => {
    const [only] = found(40, true);
    expect(only).toMatchObject({ from: 0, to: 40 });
    for (const side of ['left', 'top', 'right', 'bottom'] as const) {
      expect(Math.abs((only?.box[side] ?? 0) - inset[side])).toBeLessThanOrEqual(4);
    }
  });

  it('finds none around a face without a rectangle, nor in a photograph', () => {
    expect(found(40, false)).toEqual([]);
    expect(found(40, true, true)).toEqual([]);
  });
});
