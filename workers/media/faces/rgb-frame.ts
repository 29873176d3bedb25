/** A picture as packed 8-bit RGB, row by row: `data` holds `width * height * 3` bytes. */
export type RgbFrame = {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
};

/** A point in pixels of a frame; (0, 0) is the upper left corner of the upper left pixel. */
export type Point = { readonly x: number; readonly y: number };

/** An upright rectangle in pixels of a frame. */
export type Box = {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
};

/** How much two boxes have in common: intersection over union, 0 to 1. */
export function boxOverlap(a: Box, b: Box): number {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  const shared = width * height;
  return shared / (area(a) + area(b) - shared);
}

function area(box: Box): number {
  return (box.right - box.left) * (box.bottom - box.top);
}
