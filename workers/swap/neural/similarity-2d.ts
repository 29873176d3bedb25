import type { Point } from '../../media/faces/rgb-frame.ts';

/** x' = a x - b y + tx, y' = b x + a y + ty: turns, scales and moves a picture. */
export type Similarity2d = {
  readonly a: number;
  readonly b: number;
  readonly tx: number;
  readonly ty: number;
};

/** The similarity that brings `from` closest to `to`, by least squares (closed form). Pure. */
export function fitSimilarity2d(from: readonly Point[], to: readonly Point[]): Similarity2d {
  const [meanFrom, meanTo] = [mean(from), mean(to)];
  let [along, across, spread] = [0, 0, 1e-12];
  for (const [index, point] of from.entries()) {
    const target = to[index] as Point;
    const [x, y] = [point.x - meanFrom.x, point.y - meanFrom.y];
    const [u, v] = [target.x - meanTo.x, target.y - meanTo.y];
    along += x * u + y * v;
    across += x * v - y * u;
    spread += x * x + y * y;
  }
  const [a, b] = [along / spread, across / spread];
  return {
    ...{ a, b },
    tx: meanTo.x - a * meanFrom.x + b * meanFrom.y,
    ty: meanTo.y - b * meanFrom.x - a * meanFrom.y,
  };
}

/** The way back. Pure. */
export function inverse({ a, b, tx, ty }: Similarity2d): Similarity2d {
  const size = a * a + b * b;
  const [ia, ib] = [a / size, -b / size];
  return { a: ia, b: ib, tx: -(ia * tx - ib * ty), ty: -(ib * tx + ia * ty) };
}

function mean(points: readonly Point[]): Point {
  const count = Math.max(1, points.length);
  return {
    x: points.reduce((sum, { x }) => sum + x, 0) / count,
    y: points.reduce((sum, { y }) => sum + y, 0) / count,
  };
}
