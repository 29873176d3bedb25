import { meshPointCount } from '../../media/faces/face-points.ts';
import { outline } from './face-zones.ts';

/** A part of a frame around a face: packed RGB that is read, and drawn over in place. */
export type FacePatch = {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
};

export type FaceDrawing = {
  /** x, y, z of the target's mesh in the patch's pixels [468 * 3]. */
  readonly from: Float32Array;
  /** Where each of its points goes, so that the face takes the source's proportions. */
  readonly to: Float32Array;
  /** How squarely each point is turned to the camera, 0 to 1. */
  readonly views: Float32Array;
  readonly levels: readonly { readonly size: number; readonly data: Float32Array }[];
  /** The target's skin under its light, RGB [lightSize ** 2 * 3], and how much of the source shows there. */
  readonly light: Float32Array;
  readonly cover: Float32Array;
  readonly lightSize: number;
  /** Which level of the texture is as sharp as the target, in fractions. */
  readonly level: number;
  readonly isGrey: boolean;
  /** How much stronger or weaker the source's features are drawn than in its photograph. */
  readonly contrast: number;
  /** How much of the target's own grain is laid over the source's skin. */
  readonly grain: number;
};

/** The mesh as the renderer needs it. */
export type RenderMesh = {
  readonly triangles: Uint16Array;
  readonly textureCoordinates: Float32Array;
};

/** Around the face, this many times its size, the target is warped less and less, and beyond not at all. */
const rimScale = 1.55;

/**
 * Draws the source's face over the target's, and bends the target around it to the new outline. Triangles are
 * drawn from the farthest to the nearest. Changes `patch.data`.
 */
export function renderFace(patch: FacePatch, drawing: FaceDrawing, mesh: RenderMesh): void {
  const original = patch.data.slice();
  const grain = grainOf(original, patch.width, patch.height);
  drawRim(patch, original, drawing);
  for (const triangle of backToFront(drawing.to, mesh.triangles)) {
    drawTriangle(patch, original, grain, drawing, mesh, triangle * 3);
  }
}

function backToFront(points: Float32Array, triangles: Uint16Array): readonly number[] {
  const depths = new Float32Array(triangles.length / 3);
  for (let triangle = 0; triangle < depths.length; triangle += 1) {
    for (let corner = 0; corner < 3; corner += 1) {
      depths[triangle] =
        (depths[triangle] as number) +
        (points[(triangles[triangle * 3 + corner] as number) * 3 + 2] as number);
    }
  }
  return Array.from(depths.keys()).sort((a, b) => (depths[b] as number) - (depths[a] as number));
}

/** What is finer than a neighbourhood of 3 x 3 in the target's brightness, limited to what may be noise. */
function grainOf(data: Uint8Array, width: number, height: number): Float32Array {
  const bright = new Float32Array(width * height);
  for (let at = 0; at < bright.length; at += 1) {
    bright[at] =
      0.299 * (data[at * 3] as number) +
      0.587 * (data[at * 3 + 1] as number) +
      0.114 * (data[at * 3 + 2] as number);
  }
  const grain = new Float32Array(width * height);
  for (let y = 1; y < height - 1; y += 1) {
    for (let x = 1; x < width - 1; x += 1) {
      const at = y * width + x;
      let sum = 0;
      for (let dy = -width; dy <= width; dy += width) {
        sum +=
          (bright[at + dy - 1] as number) + (bright[at + dy] as number) + (bright[at + dy + 1] as number);
      }
      const fine = (bright[at] as number) - sum / 9;
      grain[at] = Math.abs(fine) > mostGrain ? 0 : fine;
    }
  }
  return grain;
}

/** Brighter or darker by more than this is an edge. */
const mostGrain = 6;

/** Bends the target's picture around the face: full at the outline, nothing at the rim. */
function drawRim(patch: FacePatch, original: Uint8Array, { from, to }: FaceDrawing): void {
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

function drawTriangle(
  { data, width, height }: FacePatch,
  original: Uint8Array,
  grain: Float32Array,
  drawing: FaceDrawing,
  mesh: RenderMesh,
  first: number,
): void {
  const { from, to, views, levels, light, cover, lightSize, level, isGrey } = drawing;
  const a = mesh.triangles[first] as number;
  const b = mesh.triangles[first + 1] as number;
  const c = mesh.triangles[first + 2] as number;
  const [ax, ay] = [to[a * 3] as number, to[a * 3 + 1] as number];
  const [bx, by] = [to[b * 3] as number, to[b * 3 + 1] as number];
  const [cx, cy] = [to[c * 3] as number, to[c * 3 + 1] as number];
  const area = (by - cy) * (ax - cx) + (cx - bx) * (ay - cy);
  if (Math.abs(area) < 1e-4) return;
  const uv = mesh.textureCoordinates;
  const [ua, va] = [uv[a * 2] as number, uv[a * 2 + 1] as number];
  const [ub, vb] = [uv[b * 2] as number, uv[b * 2 + 1] as number];
  const [uc, vc] = [uv[c * 2] as number, uv[c * 2 + 1] as number];
  const [wa, wb, wc] = [views[a] as number, views[b] as number, views[c] as number];
  const sharper = levels[Math.min(levels.length - 1, Math.floor(level))] as FaceDrawing['levels'][number];
  const softer = levels[Math.min(levels.length - 1, Math.floor(level) + 1)] as FaceDrawing['levels'][number];
  const soft = Math.min(1, level - Math.floor(level));
  const left = Math.max(0, Math.floor(Math.min(ax, bx, cx) - 0.5));
  const right = Math.min(width - 1, Math.ceil(Math.max(ax, bx, cx) - 0.5));
  const top = Math.max(0, Math.floor(Math.min(ay, by, cy) - 0.5));
  const bottom = Math.min(height - 1, Math.ceil(Math.max(ay, by, cy) - 0.5));
  for (let y = top; y <= bottom; y += 1) {
    for (let x = left; x <= right; x += 1) {
      const p = ((by - cy) * (x + 0.5 - cx) + (cx - bx) * (y + 0.5 - cy)) / area;
      const q = ((cy - ay) * (x + 0.5 - cx) + (ax - cx) * (y + 0.5 - cy)) / area;
      const r = 1 - p - q;
      if (p < -1e-3 || q < -1e-3 || r < -1e-3) continue;
      const sourceX =
        p * (from[a * 3] as number) + q * (from[b * 3] as number) + r * (from[c * 3] as number) - 0.5;
      const sourceY =
        p * (from[a * 3 + 1] as number) +
        q * (from[b * 3 + 1] as number) +
        r * (from[c * 3 + 1] as number) -
        0.5;
      const u = p * ua + q * ub + r * uc;
      const v = p * va + q * vb + r * vc;
      const lightAt = texelAt(u, v, lightSize);
      const shown = tap1(cover, lightSize, lightAt) * (p * wa + q * wb + r * wc);
      const at = (y * width + x) * 3;
      const t0 = blended(original, width, height, sourceX, sourceY, 0);
      const t1 = blended(original, width, height, sourceX, sourceY, 1);
      const t2 = blended(original, width, height, sourceX, sourceY, 2);
      if (shown <= 0.002) {
        data[at] = t0 + 0.5;
        data[at + 1] = t1 + 0.5;
        data[at + 2] = t2 + 0.5;
        continue;
      }
      const sharpAt = texelAt(u, v, sharper.size);
      const softAt = texelAt(u, v, softer.size);
      const noise =
        (grain[
          Math.min(height - 1, Math.max(0, Math.round(sourceY))) * width +
            Math.min(width - 1, Math.max(0, Math.round(sourceX)))
        ] as number) * drawing.grain;
      let c0 =
        colour(light, lightSize, lightAt, sharper, sharpAt, softer, softAt, soft, 0, drawing.contrast) +
        noise;
      let c1 =
        colour(light, lightSize, lightAt, sharper, sharpAt, softer, softAt, soft, 1, drawing.contrast) +
        noise;
      let c2 =
        colour(light, lightSize, lightAt, sharper, sharpAt, softer, softAt, soft, 2, drawing.contrast) +
        noise;
      if (isGrey) {
        const now = 0.299 * c0 + 0.587 * c1 + 0.114 * c2;
        const was = 0.299 * t0 + 0.587 * t1 + 0.114 * t2 + 1;
        const by = Math.min(1.6, now / was);
        c0 = 0.4 * c0 + 0.6 * t0 * by;
        c1 = 0.4 * c1 + 0.6 * t1 * by;
        c2 = 0.4 * c2 + 0.6 * t2 * by;
      }
      data[at] = byte(t0 + (c0 - t0) * shown);
      data[at + 1] = byte(t1 + (c1 - t1) * shown);
      data[at + 2] = byte(t2 + (c2 - t2) * shown);
    }
  }
}

function byte(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : value + 0.5;
}

type Texel = { readonly at: number; readonly x: number; readonly y: number };

function texelAt(u: number, v: number, size: number): Texel {
  const x = Math.min(size - 1.001, Math.max(0, u * size - 0.5));
  const y = Math.min(size - 1.001, Math.max(0, v * size - 0.5));
  return { at: (y | 0) * size + (x | 0), x: x - (x | 0), y: y - (y | 0) };
}

function tap1(field: Float32Array, size: number, { at, x, y }: Texel): number {
  return (
    ((field[at] as number) * (1 - x) + (field[at + 1] as number) * x) * (1 - y) +
    ((field[at + size] as number) * (1 - x) + (field[at + size + 1] as number) * x) * y
  );
}

function tap3(field: Float32Array, size: number, { at, x, y }: Texel, channel: number): number {
  const upper = at * 3 + channel;
  const lower = upper + size * 3;
  return (
    ((field[upper] as number) * (1 - x) + (field[upper + 3] as number) * x) * (1 - y) +
    ((field[lower] as number) * (1 - x) + (field[lower + 3] as number) * x) * y
  );
}

function colour(
  light: Float32Array,
  lightSize: number,
  lightAt: Texel,
  sharper: FaceDrawing['levels'][number],
  sharpAt: Texel,
  softer: FaceDrawing['levels'][number],
  softAt: Texel,
  soft: number,
  channel: number,
  contrast: number,
): number {
  const plain =
    tap3(sharper.data, sharper.size, sharpAt, channel) * (1 - soft) +
    tap3(softer.data, softer.size, softAt, channel) * soft;
  return (tap3(light, lightSize, lightAt, channel) + 2) * (1 + contrast * (plain - 1)) - 2;
}

/** The points of a mesh that the renderer uses. */
export const renderedPoints = meshPointCount;
