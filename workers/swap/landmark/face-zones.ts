import type { CanonicalMesh } from '../../media/faces/canonical-mesh.ts';
import { meshPointCount } from '../../media/faces/face-points.ts';
import { isOnFace, type UvGrid } from './uv-grid.ts';

/** Rings of mesh points, each closed, in order. */
export const outline: readonly number[] = [
  10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377, 152, 148, 176, 149,
  150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109,
];
/** Between them lies the mouth's inside, which is a mere line in the flattened face. */
export const innerLips: readonly number[] = [
  78, 191, 80, 81, 82, 13, 312, 311, 310, 415, 308, 324, 318, 402, 317, 14, 87, 178, 88, 95,
];
const outerLips = [61, 185, 40, 39, 37, 0, 267, 269, 270, 409, 291, 375, 321, 405, 314, 17, 84, 181, 91, 146];
/** The lids' edges: between them lie the eyeballs, which stay the target's. */
export const leftLids: readonly number[] = [
  33, 246, 161, 160, 159, 158, 157, 173, 133, 155, 154, 153, 145, 144, 163, 7,
];
export const rightLids: readonly number[] = [
  263, 466, 388, 387, 386, 385, 384, 398, 362, 382, 381, 380, 374, 373, 390, 249,
];
const leftBrow = [70, 63, 105, 66, 107, 55, 65, 52, 53, 46];
const rightBrow = [300, 293, 334, 296, 336, 285, 295, 282, 283, 276];
const nostrils = [98, 97, 2, 326, 327, 294, 278, 344, 440, 275, 4, 45, 220, 115, 48, 64];

/** What is where on every flattened face: a value of 0 to 1 for each texel. */
export type FaceZones = {
  /** How much of the source's face shows: 1 inside, 0 from the outline, in the eyes and between the lips. */
  readonly cover: Float32Array;
  /** Plain skin: no brows, eyes, lips, nostrils. */
  readonly skin: Float32Array;
  /** Where things that belong to a face are dark or coloured, so that nothing there is taken for an obstacle. */
  readonly features: Float32Array;
  /** The texels of the skin right around the left and the right eye. */
  readonly lids: readonly [left: readonly number[], right: readonly number[]];
  /** How far inside of the outline, in parts of the flattened face; below 0 outside. */
  readonly depth: Float32Array;
  readonly face: Uint8Array;
};

type Ring = readonly (readonly [x: number, y: number])[];

/** Texture coordinates are stretched so that distances mean the same across and down. */
const featherOutline = { from: 0.025, to: 0.11 };
const featherForehead = 0.16;
/** Around an eye, this much is lid, and this close to the eyeball are lashes. */
const [lidWidth, lidEdge] = [0.04, 0.012];

/** Draws the zones of a grid. Pure. */
export function faceZones(mesh: CanonicalMesh, grid: UvGrid): FaceZones {
  const { size } = grid;
  const ring = (points: readonly number[]): Ring =>
    points.map((point) => [
      mesh.textureCoordinates[point * 2] as number,
      mesh.textureCoordinates[point * 2 + 1] as number,
    ]);
  const rings = {
    hull: ring(outline),
    mouth: ring(innerLips),
    lips: ring(outerLips),
    eyes: [ring(leftLids), ring(rightLids)],
    brows: [ring(leftBrow), ring(rightBrow)],
    nose: ring(nostrils),
  };
  const zones = {
    cover: new Float32Array(size * size),
    skin: new Float32Array(size * size),
    features: new Float32Array(size * size),
    lids: [[], []] as [number[], number[]],
    depth: new Float32Array(size * size).fill(-1),
    face: new Uint8Array(size * size),
  };
  for (let texel = 0; texel < size * size; texel += 1) {
    if (!isOnFace(grid, texel)) continue;
    const x = ((texel % size) + 0.5) / size;
    const y = (Math.floor(texel / size) + 0.5) / size;
    const inside = depthInside(rings.hull, x, y);
    const eyes = rings.eyes.map((each) => depthInside(each, x, y));
    const eye = Math.max(...eyes);
    const mouth = depthInside(rings.mouth, x, y);
    const lips = depthInside(rings.lips, x, y);
    const brow = Math.max(...rings.brows.map((each) => depthInside(each, x, y)));
    const nose = depthInside(rings.nose, x, y);
    zones.face[texel] = 1;
    zones.depth[texel] = inside;
    for (const side of [0, 1] as const) {
      const depth = eyes[side] as number;
      if (depth > -lidWidth && depth < -lidEdge) zones.lids[side].push(texel);
    }
    // The forehead's end is where hair may begin: the source fades out over a longer way there.
    const reach = featherOutline.to + (featherForehead - featherOutline.to) * smoothStep(y, 0.36, 0.2);
    zones.cover[texel] =
      smoothStep(inside, featherOutline.from, reach) *
      (1 - smoothStep(eye, -0.014, -0.002)) *
      (1 - smoothStep(mouth, -0.006, 0.004));
    const feature = Math.max(
      smoothStep(eye, -0.05, -0.02),
      smoothStep(lips, -0.03, -0.005),
      smoothStep(brow, -0.035, -0.01),
      smoothStep(nose, -0.02, 0),
    );
    zones.features[texel] = feature;
    zones.skin[texel] = (1 - feature) * smoothStep(inside, 0.02, 0.06);
  }
  return zones;
}

/** The mesh point that lies where each point would be in a mirror [468]. Pure. */
export function mirrorPoints(mesh: CanonicalMesh): Uint16Array {
  const { positions } = mesh;
  return Uint16Array.from({ length: meshPointCount }, (_, point) => {
    let [best, least] = [point, Infinity];
    for (let other = 0; other < meshPointCount; other += 1) {
      const distance = Math.hypot(
        (positions[other * 3] as number) + (positions[point * 3] as number),
        (positions[other * 3 + 1] as number) - (positions[point * 3 + 1] as number),
        (positions[other * 3 + 2] as number) - (positions[point * 3 + 2] as number),
      );
      if (distance < least) [best, least] = [other, distance];
    }
    return best;
  });
}

/** 0 up to `from`, 1 from `to` on, smooth between; `from` may be the greater one. */
export function smoothStep(value: number, from: number, to: number): number {
  const part = Math.min(1, Math.max(0, (value - from) / (to - from)));
  return part * part * (3 - 2 * part);
}

/** Distance to the ring's edge, positive inside. */
function depthInside(ring: Ring, x: number, y: number): number {
  let nearest = Infinity;
  let isInside = false;
  for (const [index, [ax, ay]] of ring.entries()) {
    const [bx, by] = ring[(index + 1) % ring.length] as readonly [number, number];
    const [dx, dy] = [bx - ax, by - ay];
    const along = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)));
    nearest = Math.min(nearest, Math.hypot(x - ax - along * dx, y - ay - along * dy));
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isInside = !isInside;
  }
  return isInside ? nearest : -nearest;
}
