import type { FaceZones } from './face-zones.ts';
import { blurField } from './smooth-field.ts';

/** What the light on a face's skin is like, and what on the face is not skin. */
export type FaceLight = {
  /** The skin's colour under its light, without any feature [texels * 3], 0 to 255. */
  readonly low: Float32Array;
  /** How far each texel is from being skin, in the skin's own spread: below 1 it is skin, above 2 it is not. */
  readonly unlike: Float32Array;
  /** How strongly the skin is drawn: the spread of its brightness around the light, as natural logarithms. */
  readonly contrast: number;
};

/** Skin varies this much around its light: natural logarithm of brightness; share of red and of blue. */
const brightnessSpread = 0.2;
const shareSpread = 0.035;
/** How much the plane counts where there is no skin to see. */
const planeWeight = 0.03;
/**
 * How fine light may vary, in parts of the flattened face: finer keeps more of the target's own features, coarser
 * less of its light.
 */
const lightScale = 0.12;
const planeRounds = 5;

/**
 * Splits a flattened face into the light on its skin and the rest. First a plane through the skin's colours that
 * ignores what does not fit (beards, hair, glasses), then a local mean of what is skin by it. Pure.
 */
export function faceLight(flat: Float32Array, zones: FaceZones, size: number): FaceLight {
  const texels = size * size;
  const plane = skinPlane(flat, zones, size);
  const tolerance = shadingTolerance(flat, plane, zones);
  const weights = new Float32Array(texels);
  for (let texel = 0; texel < texels; texel += 1) {
    const skin = zones.skin[texel] as number;
    if (skin > 0) weights[texel] = skin * likeness(distance(flat, plane, texel, tolerance));
  }
  const low = localMean(flat, weights, plane, size);
  const unlike = new Float32Array(texels);
  for (let texel = 0; texel < texels; texel += 1) {
    if (zones.face[texel] === 1) unlike[texel] = distance(flat, low, texel, tolerance / leastTolerance);
  }
  return { low, unlike, contrast: skinContrast(flat, low, weights) };
}

function skinContrast(flat: Float32Array, low: Float32Array, weights: Float32Array): number {
  let [sum, total] = [1e-6, 1e-3];
  for (const [texel, weight] of weights.entries()) {
    if (weight === 0) continue;
    const ratio = Math.log(((flat[texel * 3 + 1] as number) + 2) / ((low[texel * 3 + 1] as number) + 2));
    sum += weight * ratio * ratio;
    total += weight;
  }
  return Math.sqrt(sum / total);
}

/** How much darker than the plane skin may be here: shining and deeply modelled faces vary more in brightness. */
function shadingTolerance(flat: Float32Array, plane: Float32Array, zones: FaceZones): number {
  const apart: number[] = [];
  for (let texel = 0; texel < zones.skin.length; texel += 3) {
    if ((zones.skin[texel] as number) < 0.9) continue;
    const at = texel * 3 + 1;
    apart.push(Math.abs(Math.log(((flat[at] as number) + 2) / ((plane[at] as number) + 2))));
  }
  const median = apart.toSorted((a, b) => a - b)[apart.length >> 1] ?? 0;
  return Math.min(mostTolerance, Math.max(leastTolerance, (median * spreadsOfMedian) / brightnessSpread));
}

const [leastTolerance, mostTolerance] = [2, 5];
const spreadsOfMedian = 5;

function likeness(distanceFromSkin: number): number {
  return Math.exp(-0.5 * distanceFromSkin * distanceFromSkin);
}

/** How far a texel's colour is from another field's, in the skin's spread; `tolerance` widens it for brightness. */
function distance(flat: Float32Array, field: Float32Array, texel: number, tolerance: number): number {
  const at = texel * 3;
  const [r, g, b] = [flat[at] as number, flat[at + 1] as number, flat[at + 2] as number];
  const [r0, g0, b0] = [field[at] as number, field[at + 1] as number, field[at + 2] as number];
  const sum = r + g + b + 6;
  const sum0 = r0 + g0 + b0 + 6;
  const bright = Math.log(sum / sum0) / (brightnessSpread * tolerance);
  // Shadows are not only darker but redder.
  const share = shareSpread * Math.sqrt(Math.max(1, tolerance / leastTolerance));
  const red = ((r + 2) / sum - (r0 + 2) / sum0) / share;
  const blue = ((b + 2) / sum - (b0 + 2) / sum0) / share;
  // Highlights are skin still; what is darker or of another colour is not.
  const signed = bright > 0 ? bright * 0.5 : bright;
  return Math.sqrt(signed * signed + red * red + blue * blue);
}

function localMean(
  flat: Float32Array,
  weights: Float32Array,
  plane: Float32Array,
  size: number,
): Float32Array {
  const radius = Math.max(1, Math.round(size * lightScale));
  const total = blurField(weights, size, radius);
  const low = new Float32Array(size * size * 3);
  const weighted = new Float32Array(size * size);
  for (let channel = 0; channel < 3; channel += 1) {
    for (let texel = 0; texel < weighted.length; texel += 1) {
      weighted[texel] = (weights[texel] as number) * (flat[texel * 3 + channel] as number);
    }
    const sums = blurField(weighted, size, radius);
    for (let texel = 0; texel < weighted.length; texel += 1) {
      const at = texel * 3 + channel;
      low[at] =
        ((sums[texel] as number) + planeWeight * (plane[at] as number)) /
        ((total[texel] as number) + planeWeight);
    }
  }
  return low;
}

/** Per channel: logarithm of the colour = a + b x + c y, by least squares, what fits badly counted less and less. */
function skinPlane(flat: Float32Array, zones: FaceZones, size: number): Float32Array {
  const out = new Float32Array(size * size * 3);
  const used: number[] = [];
  for (let y = 0; y < size; y += 2) {
    for (let x = 0; x < size; x += 2) {
      // From the brows' height to the upper lip: below there may be a beard, above hair.
      const height = y / size;
      if ((zones.skin[y * size + x] as number) > 0.5 && height > 0.22 && height < 0.68)
        used.push(y * size + x);
    }
  }
  let weights = new Float32Array(used.length).fill(1);
  let planes: readonly Plane[] = [];
  for (let round = 0; round < planeRounds; round += 1) {
    planes = [0, 1, 2].map((channel) => fitPlane(flat, used, weights, channel, size));
    drawPlanes(planes, used, size, out);
    weights = Float32Array.from(used, (texel) => likeness(distance(flat, out, texel, 1.5)) + 1e-4);
  }
  drawPlanes(
    planes,
    Array.from({ length: size * size }, (_, texel) => texel),
    size,
    out,
  );
  return out;
}

type Plane = readonly [level: number, across: number, down: number];

function drawPlanes(
  planes: readonly Plane[],
  texels: readonly number[],
  size: number,
  out: Float32Array,
): void {
  for (const [channel, [level, across, down]] of planes.entries()) {
    for (const texel of texels) {
      const x = (texel % size) / size - 0.5;
      const y = Math.floor(texel / size) / size - 0.5;
      out[texel * 3 + channel] = Math.min(255, Math.exp(level + across * x + down * y) - 2);
    }
  }
}

/** Slopes are held back: over cheeks alone they would run wild at the chin. */
const slopePenalty = 0.02;

function fitPlane(
  flat: Float32Array,
  used: readonly number[],
  weights: Float32Array,
  channel: number,
  size: number,
): Plane {
  let [n, sx, sy, sxx, sxy, syy, sv, sxv, syv] = [1e-6, 0, 0, 0, 0, 0, 0, 0, 0];
  for (const [index, texel] of used.entries()) {
    const w = weights[index] as number;
    const x = (texel % size) / size - 0.5;
    const y = Math.floor(texel / size) / size - 0.5;
    const v = Math.log((flat[texel * 3 + channel] as number) + 2);
    n += w;
    sx += w * x;
    sy += w * y;
    sxx += w * x * x;
    sxy += w * x * y;
    syy += w * y * y;
    sv += w * v;
    sxv += w * x * v;
    syv += w * y * v;
  }
  const [mx, my, mv] = [sx / n, sy / n, sv / n];
  const cxx = sxx / n - mx * mx + slopePenalty;
  const cyy = syy / n - my * my + slopePenalty;
  const cxy = sxy / n - mx * my;
  const cxv = sxv / n - mx * mv;
  const cyv = syv / n - my * mv;
  const determinant = cxx * cyy - cxy * cxy;
  const b = (cxv * cyy - cyv * cxy) / determinant;
  const c = (cyv * cxx - cxv * cxy) / determinant;
  return [mv - b * mx - c * my, b, c];
}
