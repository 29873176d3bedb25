import type { CanonicalMesh } from '../../media/faces/canonical-mesh.ts';
import { meshPointCount } from '../../media/faces/face-points.ts';
import type { RgbFrame } from '../../media/faces/rgb-frame.ts';
import { faceLight } from './face-light.ts';
import { type FaceZones, smoothStep } from './face-zones.ts';
import { reachedFromRim } from './rim-obstacles.ts';
import { blurField, enlarged } from './smooth-field.ts';
import { flattenFace, isOnFace, type UvGrid } from './uv-grid.ts';

/** The source's face, flattened, without the light of its photograph. */
export type SourceTexture = {
  /** The same picture at half the size each: RGB as factors of the skin's colour [size * size * 3]. */
  readonly levels: readonly { readonly size: number; readonly data: Float32Array }[];
  /** Where the source has a face to show [zones' texels]: 0 under its own fringe. */
  readonly cover: Float32Array;
  /** How strongly the source's skin is drawn, as `FaceLight` has it. */
  readonly contrast: number;
  /** Whether the photograph has no colours: then the target's are kept. */
  readonly isGrey: boolean;
};

export type FlatGrids = {
  readonly mesh: CanonicalMesh;
  /** Fine, for the source's features. */
  readonly fine: UvGrid;
  /** Coarse, for light. */
  readonly coarse: UvGrid;
  readonly zones: FaceZones;
};

/** Factors beyond these are highlights or holes of the photograph, not features. */
const [leastFactor, mostFactor] = [0.12, 1.45];
const levelCount = 5;
/** Shadows on skin are redder than its light; on another skin the full difference looks like paint. */
const colourShare = 0.7;
/** How squarely the camera saw a spot (cosine): below, its mirror image shows more. */
const [poorView, goodView] = [0.3, 0.75];
/** Hair and background reach in from the face's rim and are this unlike skin. */
const leastUnlike = 1.25;

/**
 * Flattens the source's face, takes the light out of it, and completes what the camera saw at a flat angle from
 * the other half. `points` are the mesh in the frame's pixels. Pure.
 */
export function sourceTexture(frame: RgbFrame, points: Float32Array, grids: FlatGrids): SourceTexture {
  const { fine, coarse, zones, mesh } = grids;
  const flat = new Float32Array(fine.size ** 2 * 3);
  const flatCoarse = new Float32Array(coarse.size ** 2 * 3);
  flattenFace(frame, points, fine, flat);
  flattenFace(frame, points, coarse, flatCoarse);
  const light = faceLight(flatCoarse, zones, coarse.size);
  const low = enlarged(light.low, coarse.size, 3, fine.size);
  const detail = factors(flat, low, enlarged(zones.features, coarse.size, 1, fine.size));
  const views = facing(points, mesh.triangles);
  const own = shareOfOwnHalf(views, coarse, light.unlike);
  const completed = withMirrored(detail, enlarged(own, coarse.size, 1, fine.size), fine.size, 3);
  const hidden = reachedFromRim(light.unlike, zones, coarse.size, leastUnlike);
  const shown = hidden.map((share, texel) => {
    const height = Math.floor(texel / coarse.size) / coarse.size;
    // Beards belong to the likeness: below the brows only what lies at the very rim is left out.
    const mayHide = Math.max(
      smoothStep(height, 0.36, 0.31),
      smoothStep(zones.depth[texel] as number, 0.17, 0.1),
    );
    return 1 - mayHide * share;
  });
  return {
    levels: pyramid(completed, fine.size),
    cover: withMirrored(shown, own, coarse.size, 1),
    contrast: light.contrast,
    isGrey: isGrey(flatCoarse, zones),
  };
}

/** What makes the skin's light into the picture: brightness in full, colour in full for lips and eyes alone. */
function factors(flat: Float32Array, low: Float32Array, features: Float32Array): Float32Array {
  const out = new Float32Array(flat.length);
  for (let at = 0; at < flat.length; at += 3) {
    const [r, g, b] = [0, 1, 2].map(
      (channel) => ((flat[at + channel] as number) + 2) / ((low[at + channel] as number) + 2),
    ) as [number, number, number];
    const bright = 0.299 * r + 0.587 * g + 0.114 * b;
    const share = colourShare + (1 - colourShare) * (features[at / 3] as number);
    for (const [channel, own] of [r, g, b].entries()) {
      const factor = bright + (own - bright) * share;
      out[at + channel] = Math.min(mostFactor, Math.max(leastFactor, factor));
    }
  }
  return out;
}

/** How squarely each mesh point is turned to the camera: the cosine of the angle, 1 for square on [468]. Pure. */
export function facing(points: Float32Array, triangles: Uint16Array): Float32Array {
  const normals = new Float32Array(meshPointCount * 3);
  for (let at = 0; at < triangles.length; at += 3) {
    const [a, b, c] = [0, 1, 2].map((corner) => (triangles[at + corner] as number) * 3) as [
      number,
      number,
      number,
    ];
    const edge = (from: number, to: number, axis: number): number =>
      (points[to + axis] as number) - (points[from + axis] as number);
    const [ux, uy, uz] = [edge(a, b, 0), edge(a, b, 1), edge(a, b, 2)];
    const [vx, vy, vz] = [edge(a, c, 0), edge(a, c, 1), edge(a, c, 2)];
    const normal = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx] as const;
    for (const corner of [a, b, c]) {
      for (const axis of [0, 1, 2] as const) {
        normals[corner + axis] = (normals[corner + axis] as number) + normal[axis];
      }
    }
  }
  const cosines = new Float32Array(meshPointCount);
  for (let point = 0; point < meshPointCount; point += 1) {
    const [x, y, z] = [0, 1, 2].map((axis) => normals[point * 3 + axis] as number) as [
      number,
      number,
      number,
    ];
    cosines[point] = z / Math.max(1e-9, Math.hypot(x, y, z));
  }
  // Which way the triangles turn is the mesh file's choice: the nose looks at the camera.
  const sign = Math.sign(cosines[4] as number) || 1;
  return cosines.map((cosine) => cosine * sign);
}

/** For each texel, how much its own half of the face counts beside the mirrored other half. */
function shareOfOwnHalf(views: Float32Array, grid: UvGrid, unlike: Float32Array): Float32Array {
  const seen = new Float32Array(grid.size ** 2);
  for (let texel = 0; texel < seen.length; texel += 1) {
    for (let corner = 0; corner < 3; corner += 1) {
      const at = texel * 3 + corner;
      seen[texel] =
        (seen[texel] as number) + (grid.weights[at] as number) * (views[grid.points[at] as number] as number);
    }
  }
  const share = seen.map((own, texel) => {
    if (!isOnFace(grid, texel)) return 0.5;
    const mirror = mirrored(texel, grid.size);
    const other = seen[mirror] as number;
    // Background that shows where the mesh expects a cheek: the half that is seen better has skin there.
    const stray = smoothStep((unlike[texel] as number) - (unlike[mirror] as number), 0.8, 2.2);
    const isWorse = smoothStep(other - own, 0.04, 0.16);
    // As good as its mirror image, or good by itself: its own.
    const good = Math.max(smoothStep(own, poorView, goodView), smoothStep(own - other, -0.3, -0.05));
    return good * (1 - stray * isWorse);
  });
  return blurField(share, grid.size, 2);
}

function mirrored(texel: number, size: number): number {
  return Math.floor(texel / size) * size + size - 1 - (texel % size);
}

function withMirrored(field: Float32Array, own: Float32Array, size: number, channels: number): Float32Array {
  return field.map((value, at) => {
    const texel = Math.floor(at / channels);
    const share = own[texel] as number;
    return (
      value * share + (field[mirrored(texel, size) * channels + (at % channels)] as number) * (1 - share)
    );
  });
}

function pyramid(data: Float32Array, size: number): SourceTexture['levels'] {
  const levels = [{ size, data }];
  for (let level = 1; level < levelCount; level += 1) {
    const above = levels[level - 1] as { size: number; data: Float32Array };
    const half = above.size / 2;
    const smaller = new Float32Array(half * half * 3);
    for (let y = 0; y < half; y += 1) {
      for (let x = 0; x < half; x += 1) {
        for (let channel = 0; channel < 3; channel += 1) {
          const at = (y * 2 * above.size + x * 2) * 3 + channel;
          const below = at + above.size * 3;
          smaller[(y * half + x) * 3 + channel] =
            ((above.data[at] as number) +
              (above.data[at + 3] as number) +
              (above.data[below] as number) +
              (above.data[below + 3] as number)) /
            4;
        }
      }
    }
    levels.push({ size: half, data: smaller });
  }
  return levels;
}

/** Colour of the skin, of 255, below which a photograph is black and white. */
const leastColour = 7;

function isGrey(flat: Float32Array, zones: FaceZones): boolean {
  let [sum, total] = [0, 0];
  for (const [texel, skin] of zones.skin.entries()) {
    const at = texel * 3;
    sum += skin * Math.abs((flat[at] as number) - (flat[at + 2] as number));
    total += skin;
  }
  return sum / Math.max(1, total) < leastColour;
}
