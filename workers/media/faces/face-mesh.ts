import {
  facePoint,
  facePointCount,
  irisPointCount,
  meshPointCount,
  refinedLeftEye,
  refinedLips,
  refinedRightEye,
} from './face-points.ts';
import type { Box } from './rgb-frame.ts';
import type { SquareRegion } from './square-region.ts';

/** The 478 points of one face. */
export type FaceMesh = {
  /**
   * x, y, z of each point in turn [478 * 3]: pixels of the frame, z towards the viewer negative and in the
   * same unit; the irises' z is that of the eye's corners.
   */
  readonly points: Float32Array;
  /** How sure the model is that there is a face at all, 0 to 1. */
  readonly presence: number;
};

/** What the mesh model answered, in pixels of its 192 x 192 input. */
export type RawMesh = {
  /** [468 * 3] */
  readonly mesh: Float32Array;
  /** [80 * 2], [71 * 2], [71 * 2]: finer positions of some points of the mesh. */
  readonly lips: Float32Array;
  readonly leftEye: Float32Array;
  readonly rightEye: Float32Array;
  /** [5 * 2] each. */
  readonly leftIris: Float32Array;
  readonly rightIris: Float32Array;
  readonly presenceLogit: number;
};

/** Side of the mesh model's input in pixels. */
export const meshInputSize = 192;

/** Puts the model's outputs together and from the region's pixels into the frame's. Pure. */
export function decodeMesh(raw: RawMesh, region: SquareRegion): FaceMesh {
  const points = new Float32Array(facePointCount * 3);
  points.set(raw.mesh);
  refine(points, refinedLips, raw.lips);
  refine(points, refinedLeftEye, raw.leftEye);
  refine(points, refinedRightEye, raw.rightEye);
  setIris(points, meshPointCount, raw.leftIris, depthOf(points, facePoint.leftEyeOuter));
  setIris(points, meshPointCount + irisPointCount, raw.rightIris, depthOf(points, facePoint.rightEyeOuter));
  toFrame(points, region);
  return { points, presence: 1 / (1 + Math.exp(-raw.presenceLogit)) };
}

function refine(points: Float32Array, indices: readonly number[], refined: Float32Array): void {
  for (const [position, point] of indices.entries()) {
    points[point * 3] = refined[position * 2] as number;
    points[point * 3 + 1] = refined[position * 2 + 1] as number;
  }
}

function setIris(points: Float32Array, first: number, iris: Float32Array, depth: number): void {
  for (let point = 0; point < irisPointCount; point += 1) {
    points.set([iris[point * 2] as number, iris[point * 2 + 1] as number, depth], (first + point) * 3);
  }
}

function depthOf(points: Float32Array, point: number): number {
  return points[point * 3 + 2] as number;
}

function toFrame(points: Float32Array, region: SquareRegion): void {
  const scale = region.side / meshInputSize;
  const [cos, sin] = [Math.cos(region.angle) * scale, Math.sin(region.angle) * scale];
  for (let at = 0; at < points.length; at += 3) {
    const x = (points[at] as number) - meshInputSize / 2;
    const y = (points[at + 1] as number) - meshInputSize / 2;
    points[at] = region.centre.x + x * cos - y * sin;
    points[at + 1] = region.centre.y + x * sin + y * cos;
    points[at + 2] = (points[at + 2] as number) * scale;
  }
}

/** The upright box around the mesh: forehead to chin. Pure. */
export function meshBox(mesh: FaceMesh): Box {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let at = 0; at < meshPointCount * 3; at += 3) {
    const [x, y] = [mesh.points[at] as number, mesh.points[at + 1] as number];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return { left, top, right, bottom };
}
