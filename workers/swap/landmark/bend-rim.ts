import { outline } from './face-zones.ts';
import type { FaceDrawing, FacePatch } from './render-face.ts';

/** Around the face, this many times its size, the target is warped less and less, and beyond not at all. */
const rimScale = 1.55;

/** Bends the target's picture around the face: full at the outline, nothing at the rim. */
export function drawRim(
  patch: FacePatch,
  original: Uint8Array,
  { from, to }: Pick<FaceDrawing, 'from' | 'to'>,
): void {
  let [centreX, centreY] = [0, 0];
  for (const point of outline) {
    centreX += (from[point * 3] as number) / outline.length;
    centreY += (from[point * 3 + 1] as number) / outline.length;
  }
  const far = (point: number): [number, number] => [
    centreX + ((from[point * 3] as number) - centreX) * rimScale,
    centreY + ((from[point * 3 + 1] as number) - centreY) * rimScale,
  ];
  const place = (points: Float32Array, point: number): [number, number] => [
    points[point * 3] as number,
    points[point * 3 + 1] as number,
  ];
  for (const [index, point] of outline.entries()) {
    const next = outline[(index + 1) % outline.length] as number;
    const [farA, farB] = [far(point), far(next)];
    drawBent(
      patch,
      original,
      [place(to, point), farA, place(to, next)],
      [place(from, point), farA, place(from, next)],
    );
    drawBent(patch, original, [farA, farB, place(to, next)], [farA, farB, place(from, next)]);
  }
}

type Corners = readonly [readonly [number, number], readonly [number, number], readonly [number, number]];

function drawBent(patch: FacePatch, original: Uint8Array, to: Corners, from: Corners): void {
  const { data, width, height } = patch;
  const [[ax, ay], [bx, by], [cx, cy]] = to;
  const area = (by - cy) * (ax - cx) + (cx - bx) * (ay - cy);
  if (Math.abs(area) < 1e-6) return;
  const left = Math.max(0, Math.floor(Math.min(ax, bx, cx) - 0.5));
  const right = Math.min(width - 1, Math.ceil(Math.max(ax, bx, cx) - 0.5));
  const top = Math.max(0, Math.floor(Math.min(ay, by, cy) - 0.5));
  const bottom = Math.min(height - 1, Math.ceil(Math.max(ay, by, cy) - 0.5));
  for (let y = top; y <= bottom; y += 1) {
    for (let x = left; x <= right; x += 1) {
      const first = ((by - cy) * (x + 0.5 - cx) + (cx - bx) * (y + 0.5 - cy)) / area;
      const second = ((cy - ay) * (x + 0.5 - cx) + (ax - cx) * (y + 0.5 - cy)) / area;
      const third = 1 - first - second;
      if (first < 0 || second < 0 || third < 0) continue;
      const sourceX = first * from[0][0] + second * from[1][0] + third * from[2][0] - 0.5;
      const sourceY = first * from[0][1] + second * from[1][1] + third * from[2][1] - 0.5;
      if (Math.abs(sourceX - x) < 0.02 && Math.abs(sourceY - y) < 0.02) continue;
      const at = (y * width + x) * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        data[at + channel] = blended(original, width, height, sourceX, sourceY, channel) + 0.5;
      }
    }
  }
}

function blended(
  data: Uint8Array,
  width: number,
  height: number,
  x: number,
  y: number,
  channel: number,
): number {
  const px = Math.min(width - 1.001, Math.max(0, x));
  const py = Math.min(height - 1.001, Math.max(0, y));
  const [left, top] = [px | 0, py | 0];
  const [fx, fy] = [px - left, py - top];
  const upper = (top * width + left) * 3 + channel;
  const lower = upper + width * 3;
  return (
    ((data[upper] as number) * (1 - fx) + (data[upper + 3] as number) * fx) * (1 - fy) +
    ((data[lower] as number) * (1 - fx) + (data[lower + 3] as number) * fx) * fy
  );
}
