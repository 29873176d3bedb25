import type { Box, RgbFrame } from '../faces/rgb-frame.ts';

/** Black bars are no brighter than this (of 255), compression's noise included. */
const darkest = 26;
/** Every so many pixels of a line, one is looked at. */
const stride = 3;
/** So many of a line's pixels may be bright: a channel's logo, a speck. */
const mostBright = 0.01;
/** Bars are as wide on both sides, within this part of the picture's side, and no narrower than the other. */
const mostAsymmetry = 0.02;
const leastBar = 0.01;
/** What is left between bars is at least this part of the side. */
const leastLeft = 0.3;

/** How many lines at each side of a frame are black, in pixels. */
export type DarkMargins = {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
};

/** Counts the black lines at each side of a frame. Pure. */
export function darkMargins(frame: RgbFrame): DarkMargins {
  const { width, height } = frame;
  const rows = (from: number, step: 1 | -1): number =>
    countWhile(height, from, step, (y) => isDarkRow(frame, y));
  const columns = (from: number, step: 1 | -1): number =>
    countWhile(width, from, step, (x) => isDarkColumn(frame, x));
  return {
    left: columns(0, 1),
    top: rows(0, 1),
    right: columns(width - 1, -1),
    bottom: rows(height - 1, -1),
  };
}

function countWhile(length: number, from: number, step: 1 | -1, isDark: (line: number) => boolean): number {
  let count = 0;
  while (count < length && isDark(from + count * step)) count += 1;
  return count;
}

function isDarkRow({ data, width }: RgbFrame, y: number): boolean {
  let bright = 0;
  for (let x = 0; x < width; x += stride) bright += isBright(data, (y * width + x) * 3);
  return bright <= (width / stride) * mostBright;
}

function isDarkColumn({ data, width, height }: RgbFrame, x: number): boolean {
  let bright = 0;
  for (let y = 0; y < height; y += stride) bright += isBright(data, (y * width + x) * 3);
  return bright <= (height / stride) * mostBright;
}

function isBright(data: Uint8Array, at: number): 0 | 1 {
  const most = Math.max(data[at] as number, data[at + 1] as number, data[at + 2] as number);
  return most > darkest ? 1 : 0;
}

/**
 * The part of a shot's picture between its bars, for the black margins of its frames: bars are always there and
 * come in pairs. Undefined for a shot without bars, which is most. In pixels of the frames. Pure.
 */
export function areaBetweenBars(
  margins: readonly DarkMargins[],
  { width, height }: { readonly width: number; readonly height: number },
): Box | undefined {
  const least = (side: keyof DarkMargins): number =>
    margins.reduce((min, each) => Math.min(min, each[side]), Infinity);
  const across = pairOfBars(least('left'), least('right'), width);
  const down = pairOfBars(least('top'), least('bottom'), height);
  if (across === 0 && down === 0) return undefined;
  return { left: across, top: down, right: width - across, bottom: height - down };
}

/** How wide two bars opposite each other are; 0 where they are none. One line more: scaling softens their edge. */
function pairOfBars(one: number, other: number, side: number): number {
  if (!Number.isFinite(one) || Math.min(one, other) < leastBar * side) return 0;
  if (Math.abs(one - other) > mostAsymmetry * side) return 0;
  const bar = Math.max(one, other) + 1;
  return side - 2 * bar < leastLeft * side ? 0 : bar;
}
