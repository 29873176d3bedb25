import type { CanonicalMesh } from '../../media/faces/canonical-mesh.ts';
import type { RgbFrame } from '../../media/faces/rgb-frame.ts';

/**
 * A square picture of a flattened face: `size` x `size` texels, each tied to a spot of the mesh. What lies at one
 * texel is the same spot of skin in all frames and on all faces.
 */
export type UvGrid = {
  readonly size: number;
  /** The three mesh points around each texel [size * size * 3]; meaningless outside of the face. */
  readonly points: Uint16Array;
  /** How much each of the three counts [size * size * 3]; all zero outside of the face. */
  readonly weights: Float32Array;
};

/** Ties each texel to the mesh's triangles. Pure. */
export function uvGrid(mesh: CanonicalMesh, size: number): UvGrid {
  const points = new Uint16Array(size * size * 3);
  const weights = new Float32Array(size * size * 3);
  const { triangles, textureCoordinates: uv } = mesh;
  for (let at = 0; at < triangles.length; at += 3) {
    const corners = [triangles[at] as number, triangles[at + 1] as number, triangles[at + 2] as number];
    const [ax, ay, bx, by, cx, cy] = corners.flatMap((point) => [
      (uv[point * 2] as number) * size - 0.5,
      (uv[point * 2 + 1] as number) * size - 0.5,
    ]) as [number, number, number, number, number, number];
    const area = (by - cy) * (ax - cx) + (cx - bx) * (ay - cy);
    if (Math.abs(area) < 1e-9) continue;
    const top = Math.max(0, Math.floor(Math.min(ay, by, cy)));
    const bottom = Math.min(size - 1, Math.ceil(Math.max(ay, by, cy)));
    const left = Math.max(0, Math.floor(Math.min(ax, bx, cx)));
    const right = Math.min(size - 1, Math.ceil(Math.max(ax, bx, cx)));
    for (let y = top; y <= bottom; y += 1) {
      for (let x = left; x <= right; x += 1) {
        const first = ((by - cy) * (x - cx) + (cx - bx) * (y - cy)) / area;
        const second = ((cy - ay) * (x - cx) + (ax - cx) * (y - cy)) / area;
        const third = 1 - first - second;
        if (first < -1e-4 || second < -1e-4 || third < -1e-4) continue;
        const texel = (y * size + x) * 3;
        points.set(corners, texel);
        weights.set([first, second, third], texel);
      }
    }
  }
  return { size, points, weights };
}

/** Whether a texel lies on the face. */
export function isOnFace(grid: UvGrid, texel: number): boolean {
  const at = texel * 3;
  return (
    (grid.weights[at] as number) + (grid.weights[at + 1] as number) + (grid.weights[at + 2] as number) > 0
  );
}

/**
 * Reads a frame's face into a flattened picture: packed RGB, 0 to 255, neighbours blended. `xy` holds x, y, z of
 * each mesh point in the frame's pixels. Pure but for `out` [size * size * 3].
 */
export function flattenFace(frame: RgbFrame, xy: Float32Array, grid: UvGrid, out: Float32Array): void {
  const { data, width, height } = frame;
  const { points, weights } = grid;
  const [mostX, mostY] = [width - 1.001, height - 1.001];
  for (let at = 0; at < points.length; at += 3) {
    const [wa, wb, wc] = [weights[at] as number, weights[at + 1] as number, weights[at + 2] as number];
    const a = (points[at] as number) * 3;
    const b = (points[at + 1] as number) * 3;
    const c = (points[at + 2] as number) * 3;
    // Pixel centres lie at halves.
    let x = wa * (xy[a] as number) + wb * (xy[b] as number) + wc * (xy[c] as number) - 0.5;
    let y = wa * (xy[a + 1] as number) + wb * (xy[b + 1] as number) + wc * (xy[c + 1] as number) - 0.5;
    x = Math.min(mostX, Math.max(0, x));
    y = Math.min(mostY, Math.max(0, y));
    const [left, top] = [x | 0, y | 0];
    const [partX, partY] = [x - left, y - top];
    const upper = (top * width + left) * 3;
    const lower = upper + width * 3;
    for (let channel = 0; channel < 3; channel += 1) {
      const above =
        (data[upper + channel] as number) * (1 - partX) + (data[upper + 3 + channel] as number) * partX;
      const below =
        (data[lower + channel] as number) * (1 - partX) + (data[lower + 3 + channel] as number) * partX;
      out[at + channel] = above * (1 - partY) + below * partY;
    }
  }
}
