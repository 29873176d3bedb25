import { expect, it } from 'vitest';
import { areaBetweenBars, darkMargins } from '#workers/media/shots/dark-margins.ts';

const size = { width: 160, height: 90 };

function picture(
  left: number,
  top: number,
  right: number,
  bottom: number,
): { data: Uint8Array; width: number; height: number } {
  const data = new Uint8Array(size.width * size.height * 3).fill(16);
  for (let y = top; y < bottom; y += 1) {
    data.fill(120, (y * size.width + left) * 3, (y * size.width + right) * 3);
  }
  return { data, ...size };
}

it('finds the bars that all frames of a shot have', () => {
  const margins = [picture(20, 0, 140, 90), picture(30, 10, 130, 80)].map(darkMargins);
  expect(areaBetweenBars(margins, size)).toEqual({ left: 21, top: 0, right: 139, bottom: 90 });
});

it('takes no dark side, no fade to black and no full picture for bars', () => {
  expect(areaBetweenBars([darkMargins(picture(30, 0, 160, 90))], size)).toBeUndefined();
  expect(areaBetweenBars([darkMargins(picture(0, 0, 160, 90))], size)).toBeUndefined();
  expect(areaBetweenBars([darkMargins(picture(0, 0, 0, 0))], size)).toBeUndefined();
});
