import type { CanonicalMesh } from '../../media/faces/canonical-mesh.ts';
import { meshPointCount } from '../../media/faces/face-points.ts';
import { mirrorPoints, outline } from './face-zones.ts';
import { fitSimilarity, intoHead, type Similarity, toImageAxes } from './head-pose.ts';

/** What comparing faces by their shape needs, made once. */
export type ShapeSpace = {
  readonly canonical: Float32Array;
  /** How firmly each point sits on the skull: the mouth and jaw move. */
  readonly firmness: Float32Array;
  readonly mirror: Uint16Array;
  /** The points next to each point. */
  readonly neighbours: readonly (readonly number[])[];
  /** How much of the source's shape each point takes over. */
  readonly strength: Float32Array;
};

const smoothingRounds = 6;
/** In centimetres of the canonical face, whose eyes' outer corners are 8.9 apart: more looks like a caricature. */
const mostShift = 0.9;

/** Reads the canonical face as a space of shapes. Pure. */
export function shapeSpace(mesh: CanonicalMesh): ShapeSpace {
  const canonical = toImageAxes(mesh.positions);
  const neighbours = Array.from({ length: meshPointCount }, () => new Set<number>());
  for (let at = 0; at < mesh.triangles.length; at += 3) {
    const corners = mesh.triangles.subarray(at, at + 3);
    for (const a of corners) for (const b of corners) if (a !== b) neighbours[a]?.add(b);
  }
  const rim = new Set(outline);
  const firmness = new Float32Array(meshPointCount);
  const strength = new Float32Array(meshPointCount);
  for (let point = 0; point < meshPointCount; point += 1) {
    const y = canonical[point * 3 + 1] as number;
    // The mouth's corners lie at 4.3 below the middle; what is above 2 hardly moves with speech.
    firmness[point] = y < 2 ? 1 : 0.12;
    strength[point] = rim.has(point) ? 0.45 : 0.85;
  }
  return {
    canonical,
    firmness,
    mirror: mirrorPoints(mesh),
    neighbours: neighbours.map((each) => [...each]),
    strength,
  };
}

/** How a frame's mesh lies in the frame. Pure. */
export function poseOf(points: Float32Array, space: ShapeSpace): Similarity {
  return fitSimilarity(space.canonical, points, space.firmness);
}

/** A mesh with its pose taken out: the shape and expression of the face alone. Pure. */
export function unposed(points: Float32Array, space: ShapeSpace): Float32Array {
  return intoHead(points, poseOf(points, space));
}

/**
 * What has to be added to the target's shape so that it comes near the source's, in the canonical head: the same
 * for both halves, smooth over the face (a photograph's smile is no trait), limited. `calm` is 0 for a source
 * with its mouth wide open and 1 for one at rest. Pure.
 */
export function identityShift(
  source: Float32Array,
  target: Float32Array,
  space: ShapeSpace,
  calm: number,
): Float32Array {
  let shift: Float32Array = source.map((value, at) => value - (target[at] as number));
  shift = shift.map((value, at) => {
    const [point, axis] = [Math.floor(at / 3), at % 3];
    const other = shift[(space.mirror[point] as number) * 3 + axis] as number;
    return (value + (axis === 0 ? -other : other)) / 2;
  });
  for (let round = 0; round < smoothingRounds; round += 1) shift = smoothed(shift, space);
  for (let point = 0; point < meshPointCount; point += 1) {
    const at = point * 3;
    const isLower = (space.canonical[at + 1] as number) > 2;
    const by = (space.strength[point] as number) * (isLower ? 0.25 + 0.65 * calm : 1);
    const length = Math.hypot(shift[at] as number, shift[at + 1] as number) * by;
    const limited = by * (length > mostShift ? mostShift / length : 1);
    for (let axis = 0; axis < 3; axis += 1) shift[at + axis] = (shift[at + axis] as number) * limited;
  }
  return shift;
}

function smoothed(shift: Float32Array, { neighbours }: ShapeSpace): Float32Array {
  return shift.map((value, at) => {
    const [point, axis] = [Math.floor(at / 3), at % 3];
    const around = neighbours[point] ?? [];
    const sum = around.reduce((total, other) => total + (shift[other * 3 + axis] as number), 0);
    return 0.5 * value + (0.5 * sum) / Math.max(1, around.length);
  });
}

/** Below this height of the canonical head (image axes) speech moves the face too much to tell persons by it. */
const talkingPart = 2.2;

/**
 * How far two shapes are apart, in centimetres of the canonical face: the root mean square over the upper face, seen
 * from the front, both halves together (a mesh seen from the side errs to one side). Pure.
 */
export function shapeDistance(a: Float32Array, b: Float32Array, space: ShapeSpace): number {
  let [sum, count] = [0, 0];
  for (let point = 0; point < meshPointCount; point += 1) {
    if ((space.canonical[point * 3 + 1] as number) > talkingPart) continue;
    const mirror = space.mirror[point] as number;
    for (const axis of [0, 1] as const) {
      const own = (a[point * 3 + axis] as number) - (b[point * 3 + axis] as number);
      const other = (a[mirror * 3 + axis] as number) - (b[mirror * 3 + axis] as number);
      sum += ((own + (axis === 0 ? -other : other)) / 2) ** 2;
    }
    count += 1;
  }
  return Math.sqrt(sum / Math.max(1, count));
}
