import type { FaceDetection } from './face-detection.ts';
import type { FaceMesh } from './face-mesh.ts';
import { facePoint, meshPointCount } from './face-points.ts';
import type { Point } from './rgb-frame.ts';
import type { SquareRegion } from './square-region.ts';

/** The mesh model was trained on faces with this much around them. */
const regionScale = 1.5;

/** Where the mesh model should look for a face that was detected: upright by its eyes. Pure. */
export function regionOfDetection(detection: FaceDetection): SquareRegion {
  const { box, points } = detection;
  const [leftEye, rightEye] = points;
  return {
    centre: { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 },
    side: Math.max(box.right - box.left, box.bottom - box.top) * regionScale,
    angle: leftEye === undefined || rightEye === undefined ? 0 : angleBetween(leftEye, rightEye),
  };
}

/** Where the mesh model should look for a face whose mesh is known from a moment ago. Pure. */
export function regionOfMesh(mesh: FaceMesh): SquareRegion {
  const angle = angleBetween(
    meshPoint(mesh, facePoint.leftEyeOuter),
    meshPoint(mesh, facePoint.rightEyeOuter),
  );
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let point = 0; point < meshPointCount; point += 1) {
    const { x, y } = meshPoint(mesh, point);
    const alongX = x * cos + y * sin;
    const alongY = y * cos - x * sin;
    left = Math.min(left, alongX);
    right = Math.max(right, alongX);
    top = Math.min(top, alongY);
    bottom = Math.max(bottom, alongY);
  }
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  return {
    centre: { x: x * cos - y * sin, y: x * sin + y * cos },
    side: Math.max(right - left, bottom - top) * regionScale,
    angle,
  };
}

/** One of the mesh's points in the picture. */
export function meshPoint(mesh: FaceMesh, point: number): Point {
  return { x: mesh.points[point * 3] as number, y: mesh.points[point * 3 + 1] as number };
}

function angleBetween(left: Point, right: Point): number {
  return Math.atan2(right.y - left.y, right.x - left.x);
}
