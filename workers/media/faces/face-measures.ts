import type { FaceMesh } from './face-mesh.ts';
import { facePoint, lipGaps } from './face-points.ts';
import { meshPoint } from './mesh-region.ts';
import type { Point } from './rgb-frame.ts';

/** Where a head is turned, in degrees; all zero for a face that looks straight into the camera. */
export type HeadPose = {
  /** Positive: the face looks towards the right edge of the picture. */
  readonly yaw: number;
  /** Positive: the face looks up. */
  readonly pitch: number;
  /** Positive: the head leans towards the right edge of the picture (clockwise as seen). */
  readonly roll: number;
};

type Vector = readonly [x: number, y: number, z: number];

/** How the head is turned, from the mesh's three dimensions. Pure. */
export function headPose(mesh: FaceMesh): HeadPose {
  const across = unit(
    sum(
      between(mesh, facePoint.leftEyeOuter, facePoint.rightEyeOuter),
      between(mesh, facePoint.leftCheek, facePoint.rightCheek),
    ),
  );
  const down = unit(rejected(between(mesh, facePoint.forehead, facePoint.chin), across));
  const outward = cross(down, across);
  return {
    yaw: degrees(Math.atan2(outward[0], -outward[2])),
    pitch: degrees(Math.asin(clamp(-outward[1]))),
    roll: degrees(Math.atan2(across[1], across[0])),
  };
}

/** The distance between the outer corners of the eyes in pixels, however the head is turned. Pure. */
export function eyeDistance(mesh: FaceMesh): number {
  return length(between(mesh, facePoint.leftEyeOuter, facePoint.rightEyeOuter));
}

/** The point between the eyes. Pure. */
export function eyeCentre(mesh: FaceMesh): Point {
  const corners = [
    facePoint.leftEyeOuter,
    facePoint.leftEyeInner,
    facePoint.rightEyeInner,
    facePoint.rightEyeOuter,
  ].map((point) => meshPoint(mesh, point));
  return {
    x: corners.reduce((total, { x }) => total + x, 0) / corners.length,
    y: corners.reduce((total, { y }) => total + y, 0) / corners.length,
  };
}

/** How far the lips are apart, in parts of the eye distance: 0 for a closed mouth, some 0.3 for a wide one. Pure. */
export function lipOpening(mesh: FaceMesh): number {
  const gaps = lipGaps.map(([upper, lower]) => length(between(mesh, upper, lower)));
  return gaps.reduce((total, gap) => total + gap, 0) / gaps.length / eyeDistance(mesh);
}

/** How far the lids are apart, in parts of the eye's width, the mean of both eyes: below 0.15 they are shut. Pure. */
export function eyeOpening(mesh: FaceMesh): number {
  const { leftLidUpper, leftLidLower, leftEyeOuter, leftEyeInner } = facePoint;
  const { rightLidUpper, rightLidLower, rightEyeOuter, rightEyeInner } = facePoint;
  const left = ratio(mesh, [leftLidUpper, leftLidLower], [leftEyeOuter, leftEyeInner]);
  const right = ratio(mesh, [rightLidUpper, rightLidLower], [rightEyeOuter, rightEyeInner]);
  return (left + right) / 2;
}

function ratio(mesh: FaceMesh, gap: readonly [number, number], width: readonly [number, number]): number {
  return length(between(mesh, ...gap)) / Math.max(1e-6, length(between(mesh, ...width)));
}

function between(mesh: FaceMesh, from: number, to: number): Vector {
  const { points } = mesh;
  return [0, 1, 2].map(
    (axis) => (points[to * 3 + axis] as number) - (points[from * 3 + axis] as number),
  ) as unknown as Vector;
}

function sum(a: Vector, b: Vector): Vector {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

function length(vector: Vector): number {
  return Math.hypot(...vector);
}

function unit(vector: Vector): Vector {
  const by = 1 / Math.max(1e-9, length(vector));
  return [vector[0] * by, vector[1] * by, vector[2] * by];
}

/** `vector` without its part along `axis`, which is of length 1. */
function rejected(vector: Vector, axis: Vector): Vector {
  const along = vector[0] * axis[0] + vector[1] * axis[1] + vector[2] * axis[2];
  return [vector[0] - along * axis[0], vector[1] - along * axis[1], vector[2] - along * axis[2]];
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function degrees(radians: number): number {
  return (radians * 180) / Math.PI;
}

function clamp(value: number): number {
  return Math.min(1, Math.max(-1, value));
}
