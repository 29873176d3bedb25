import { meshPointCount } from '../../media/faces/face-points.ts';
import type { RgbFrame } from '../../media/faces/rgb-frame.ts';
import type { FaceZones } from '../landmark/face-zones.ts';
import { blurField } from '../landmark/smooth-field.ts';
import { flattenFace, type UvGrid } from '../landmark/uv-grid.ts';

/** Side of the flattened face that is compared: brows, eyes, nose, folds, not pores. */
export const likenessSize = 32;
const lightRadius = 5;

/**
 * What a face looks like whatever its light and pose: the flattened face's brightness without what is smooth in
 * it, of length 1. Two pictures of one person of one video have a product near 1. Tells the persons of a video
 * apart; it is no recognition across photographs. Pure.
 */
export function faceLikeness(
  frame: RgbFrame,
  points: Float32Array,
  grid: UvGrid,
  zones: FaceZones,
): Float32Array {
  const flat = new Float32Array(likenessSize ** 2 * 3);
  flattenFace(frame, points.subarray(0, meshPointCount * 3), grid, flat);
  const bright = new Float32Array(likenessSize ** 2);
  for (let texel = 0; texel < bright.length; texel += 1) {
    const at = texel * 3;
    bright[texel] = Math.log(
      4 + 0.3 * (flat[at] as number) + 0.59 * (flat[at + 1] as number) + 0.11 * (flat[at + 2] as number),
    );
  }
  const smooth = blurField(bright, likenessSize, lightRadius);
  return unit(
    bright.map(
      (value, texel) => (value - (smooth[texel] as number)) * ((zones.depth[texel] as number) > 0.08 ? 1 : 0),
    ),
  );
}

/** The direction of several likenesses together. Pure. */
export function meanLikeness(likenesses: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(likenessSize ** 2);
  for (const each of likenesses)
    for (const [at, value] of each.entries()) sum[at] = (sum[at] as number) + value;
  return unit(sum);
}

/** 1 for the same picture, around 0.3 for different persons. Pure. */
export function similarity(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);
}

function unit(values: Float32Array): Float32Array {
  const length = Math.hypot(...values) || 1;
  return values.map((value) => value / length);
}
