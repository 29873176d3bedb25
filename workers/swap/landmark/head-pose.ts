import { meshPointCount } from '../../media/faces/face-points.ts';

/** Turns, scales and moves the canonical head into a frame: `scale * rotation * point + translation`. */
export type Similarity = {
  readonly scale: number;
  /** Row by row [9]. */
  readonly rotation: Float64Array;
  readonly translation: readonly [number, number, number];
};

/**
 * The canonical positions with y down and z away from the viewer, as meshes in frames have them [468 * 3].
 * Pure.
 */
export function toImageAxes(positions: Float32Array): Float32Array {
  return positions.map((value, index) => (index % 3 === 0 ? value : -value));
}

/**
 * The similarity that brings `from` closest to `to` (least squares, points weighted): Horn's closed form with
 * unit quaternions (1987), its largest eigenvector found by Jacobi rotations. Pure.
 */
export function fitSimilarity(from: Float32Array, to: Float32Array, weights: Float32Array): Similarity {
  const centreFrom = centre(from, weights);
  const centreTo = centre(to, weights);
  const products = new Float64Array(9);
  let spread = 0;
  for (let point = 0; point < meshPointCount; point += 1) {
    const weight = weights[point] as number;
    for (let row = 0; row < 3; row += 1) {
      const a = (from[point * 3 + row] as number) - (centreFrom[row] as number);
      spread += weight * a * a;
      for (let column = 0; column < 3; column += 1) {
        const b = (to[point * 3 + column] as number) - (centreTo[column] as number);
        products[row * 3 + column] = (products[row * 3 + column] as number) + weight * a * b;
      }
    }
  }
  const rotation = rotationOf(products);
  let along = 0;
  for (let row = 0; row < 3; row += 1) {
    for (let column = 0; column < 3; column += 1) {
      along += (rotation[column * 3 + row] as number) * (products[row * 3 + column] as number);
    }
  }
  const scale = along / Math.max(1e-12, spread);
  const turned = rotate(rotation, centreFrom);
  const translation = [0, 1, 2].map(
    (axis) => (centreTo[axis] as number) - scale * (turned[axis] as number),
  ) as [number, number, number];
  return { scale, rotation, translation };
}

/** Points of a frame back into the canonical head's place. Pure. */
export function intoHead(points: Float32Array, pose: Similarity): Float32Array {
  const head = new Float32Array(meshPointCount * 3);
  const { rotation: r, scale, translation } = pose;
  for (let at = 0; at < head.length; at += 3) {
    const x = ((points[at] as number) - translation[0]) / scale;
    const y = ((points[at + 1] as number) - translation[1]) / scale;
    const z = ((points[at + 2] as number) - translation[2]) / scale;
    for (let axis = 0; axis < 3; axis += 1) {
      head[at + axis] = (r[axis] as number) * x + (r[3 + axis] as number) * y + (r[6 + axis] as number) * z;
    }
  }
  return head;
}

/** A direction of the canonical head as one of the frame, with the pose's scale. Pure. */
export function turn(pose: Similarity, x: number, y: number, z: number): readonly [number, number, number] {
  const turned = rotate(pose.rotation, [x, y, z]);
  return [turned[0] * pose.scale, turned[1] * pose.scale, turned[2] * pose.scale];
}

function centre(points: Float32Array, weights: Float32Array): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  let total = 0;
  for (let point = 0; point < meshPointCount; point += 1) {
    const weight = weights[point] as number;
    total += weight;
    for (const axis of [0, 1, 2] as const) sum[axis] += weight * (points[point * 3 + axis] as number);
  }
  return [sum[0] / total, sum[1] / total, sum[2] / total];
}

function rotate(r: Float64Array, [x, y, z]: readonly [number, number, number]): [number, number, number] {
  const row = (at: number): number =>
    (r[at] as number) * x + (r[at + 1] as number) * y + (r[at + 2] as number) * z;
  return [row(0), row(3), row(6)];
}

function rotationOf(s: Float64Array): Float64Array {
  const [xx, xy, xz, yx, yy, yz, zx, zy, zz] = s as unknown as readonly [
    ...[number, number, number],
    ...[number, number, number],
    ...[number, number, number],
  ];
  const matrix = [
    [xx + yy + zz, yz - zy, zx - xz, xy - yx],
    [yz - zy, xx - yy - zz, xy + yx, zx + xz],
    [zx - xz, xy + yx, yy - xx - zz, yz + zy],
    [xy - yx, zx + xz, yz + zy, zz - xx - yy],
  ];
  const [w, x, y, z] = largestEigenvector(matrix) as [number, number, number, number];
  return Float64Array.of(
    ...[w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
    ...[2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
    ...[2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
  );
}

/** More sweeps than a symmetric matrix of four rows has ever needed. */
const mostSweeps = 24;

function largestEigenvector(symmetric: readonly (readonly number[])[]): readonly number[] {
  const a = symmetric.map((row) => Float64Array.from(row));
  const vectors = a.map((_, row) => Float64Array.from(a, (__, column) => (row === column ? 1 : 0)));
  const cell = (row: number, column: number): number => a[row]?.[column] as number;
  for (let sweep = 0; sweep < mostSweeps; sweep += 1) {
    for (let p = 0; p < 3; p += 1) {
      for (let q = p + 1; q < 4; q += 1) {
        if (Math.abs(cell(p, q)) < 1e-14) continue;
        const theta = (cell(q, q) - cell(p, p)) / (2 * cell(p, q));
        const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const cos = 1 / Math.sqrt(t * t + 1);
        turnPair(a, vectors, { p, q, cos, sin: t * cos });
      }
    }
  }
  const best = [0, 1, 2, 3].reduce((top, each) => (cell(each, each) > cell(top, top) ? each : top), 0);
  return vectors.map((row) => row[best] as number);
}

function turnPair(
  a: readonly Float64Array[],
  vectors: readonly Float64Array[],
  { p, q, cos, sin }: { readonly p: number; readonly q: number; readonly cos: number; readonly sin: number },
): void {
  for (const row of [...a, ...vectors]) {
    const [left, right] = [row[p] as number, row[q] as number];
    row[p] = cos * left - sin * right;
    row[q] = sin * left + cos * right;
  }
  const [upper, lower] = [a[p] as Float64Array, a[q] as Float64Array];
  for (let column = 0; column < 4; column += 1) {
    const [above, below] = [upper[column] as number, lower[column] as number];
    upper[column] = cos * above - sin * below;
    lower[column] = sin * above + cos * below;
  }
}
