import { drawRim } from './bend-rim.ts';
import { innerLips } from './face-zones.ts';

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
  /** The target's skin under its light at each point, RGB [468 * 3]: it varies less than the mesh is fine. */
  readonly light: Float32Array;
  /** How much brighter than in the target its own picture is drawn at each point: eyes behind dark lenses [468]. */
  readonly gain: Float32Array;
  /** How much of the source shows [coverSize ** 2]. */
  readonly cover: Float32Array;
  readonly coverSize: number;
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
  const across = new Float32Array(width * height);
  for (let at = 1; at < across.length - 1; at += 1) {
    across[at] = (bright[at - 1] as number) + (bright[at] as number) + (bright[at + 1] as number);
  }
  const grain = new Float32Array(width * height);
  for (let at = width; at < grain.length - width; at += 1) {
    const sum = (across[at - width] as number) + (across[at] as number) + (across[at + width] as number);
    const fine = (bright[at] as number) - sum / 9;
    grain[at] = Math.abs(fine) > mostGrain ? 0 : fine;
  }
  return grain;
}

/** Brighter or darker by more than this is an edge. */
const mostGrain = 6;

/** Triangles between the lips: the mouth's inside is always the target's. */
const mouthPoints: ReadonlySet<number> = new Set(innerLips);

/** A triangle in the pixels of the patch, with the steps of its first two weights from pixel to pixel. */
type Spread = {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly weights: (x: number, y: number) => readonly [first: number, second: number];
  readonly firstStep: number;
  readonly secondStep: number;
};

function spread(to: Float32Array, a: number, b: number, c: number, patch: FacePatch): Spread | undefined {
  const [ax, ay] = [to[a * 3] as number, to[a * 3 + 1] as number];
  const [bx, by] = [to[b * 3] as number, to[b * 3 + 1] as number];
  const [cx, cy] = [to[c * 3] as number, to[c * 3 + 1] as number];
  const area = (by - cy) * (ax - cx) + (cx - bx) * (ay - cy);
  if (Math.abs(area) < 1e-4) return undefined;
  // Pixel centres lie at halves.
  return {
    left: Math.max(0, Math.floor(Math.min(ax, bx, cx) - 0.5)),
    right: Math.min(patch.width - 1, Math.ceil(Math.max(ax, bx, cx) - 0.5)),
    top: Math.max(0, Math.floor(Math.min(ay, by, cy) - 0.5)),
    bottom: Math.min(patch.height - 1, Math.ceil(Math.max(ay, by, cy) - 0.5)),
    weights: (x, y) => [
      ((by - cy) * (x + 0.5 - cx) + (cx - bx) * (y + 0.5 - cy)) / area,
      ((cy - ay) * (x + 0.5 - cx) + (ax - cx) * (y + 0.5 - cy)) / area,
    ],
    firstStep: (by - cy) / area,
    secondStep: (cy - ay) / area,
  };
}

/** The innermost loop of the engine: written out, without calls or objects for each pixel. */
function drawTriangle(
  patch: FacePatch,
  original: Uint8Array,
  grain: Float32Array,
  drawing: FaceDrawing,
  mesh: RenderMesh,
  first: number,
): void {
  const { data, width, height } = patch;
  const { from, to, views, levels, light, cover, coverSize, level, isGrey, contrast, gain } = drawing;
  const a = mesh.triangles[first] as number;
  const b = mesh.triangles[first + 1] as number;
  const c = mesh.triangles[first + 2] as number;
  const reach = spread(to, a, b, c, patch);
  if (reach === undefined) return;
  const isMouth = mouthPoints.has(a) && mouthPoints.has(b) && mouthPoints.has(c);
  const uv = mesh.textureCoordinates;
  const [ua, va] = [uv[a * 2] as number, uv[a * 2 + 1] as number];
  const [ub, vb] = [uv[b * 2] as number, uv[b * 2 + 1] as number];
  const [uc, vc] = [uv[c * 2] as number, uv[c * 2 + 1] as number];
  const [wa, wb, wc] = [views[a] as number, views[b] as number, views[c] as number];
  const [ga, gb, gc] = [gain[a] as number, gain[b] as number, gain[c] as number];
  const [fax, fay] = [from[a * 3] as number, from[a * 3 + 1] as number];
  const [fbx, fby] = [from[b * 3] as number, from[b * 3 + 1] as number];
  const [fcx, fcy] = [from[c * 3] as number, from[c * 3 + 1] as number];
  const sharper = levels[Math.min(levels.length - 1, Math.floor(level))] as FaceDrawing['levels'][number];
  const softer = levels[Math.min(levels.length - 1, Math.floor(level) + 1)] as FaceDrawing['levels'][number];
  const soft = Math.min(1, level - Math.floor(level));
  const colour = [0, 0, 0] as [number, number, number];
  const was = [0, 0, 0] as [number, number, number];
  const [mostX, mostY] = [width - 1.001, height - 1.001];
  for (let y = reach.top; y <= reach.bottom; y += 1) {
    let [p, q] = reach.weights(reach.left - 1, y);
    for (let x = reach.left; x <= reach.right; x += 1) {
      p += reach.firstStep;
      q += reach.secondStep;
      const r = 1 - p - q;
      if (p < -1e-3 || q < -1e-3 || r < -1e-3) continue;
      const sourceX = Math.min(mostX, Math.max(0, p * fax + q * fbx + r * fcx - 0.5));
      const sourceY = Math.min(mostY, Math.max(0, p * fay + q * fby + r * fcy - 0.5));
      const [sx, sy] = [sourceX | 0, sourceY | 0];
      const [px, py] = [sourceX - sx, sourceY - sy];
      const [w00, w10, w01, w11] = [(1 - px) * (1 - py), px * (1 - py), (1 - px) * py, px * py];
      const upper = (sy * width + sx) * 3;
      const lower = upper + width * 3;
      const bright = p * ga + q * gb + r * gc;
      for (let channel = 0; channel < 3; channel += 1) {
        const value =
          (original[upper + channel] as number) * w00 +
          (original[upper + 3 + channel] as number) * w10 +
          (original[lower + channel] as number) * w01 +
          (original[lower + 3 + channel] as number) * w11;
        was[channel] = Math.min(254, value * bright);
      }
      const at = (y * width + x) * 3;
      const u = p * ua + q * ub + r * uc;
      const v = p * va + q * vb + r * vc;
      const shown = isMouth ? 0 : coverAt(cover, coverSize, u, v) * (p * wa + q * wb + r * wc);
      if (shown <= 0.002) {
        data[at] = was[0] + 0.5;
        data[at + 1] = was[1] + 0.5;
        data[at + 2] = was[2] + 0.5;
        continue;
      }
      featuresAt(sharper, u, v, colour, 1 - soft);
      if (soft > 0.01) featuresAt(softer, u, v, colour, soft);
      else
        for (let channel = 0; channel < 3; channel += 1)
          colour[channel] = (colour[channel] as number) / (1 - soft);
      const noise = (grain[sy * width + sx] as number) * drawing.grain;
      for (let channel = 0; channel < 3; channel += 1) {
        const skin =
          p * (light[a * 3 + channel] as number) +
          q * (light[b * 3 + channel] as number) +
          r * (light[c * 3 + channel] as number);
        colour[channel] = (skin + 2) * (1 + contrast * ((colour[channel] as number) - 1)) - 2 + noise;
      }
      if (isGrey) keepColours(colour, was);
      for (let channel = 0; channel < 3; channel += 1) {
        const value =
          (was[channel] as number) + ((colour[channel] as number) - (was[channel] as number)) * shown;
        data[at + channel] = value < 0 ? 0 : Math.min(255, value + 0.5);
      }
      colour[0] = 0;
      colour[1] = 0;
      colour[2] = 0;
    }
  }
}

/** A photograph without colours takes most of the target's, at its own brightness. */
function keepColours(colour: [number, number, number], was: readonly [number, number, number]): void {
  const now = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];
  const before = 0.299 * was[0] + 0.587 * was[1] + 0.114 * was[2] + 1;
  const by = Math.min(1.6, now / before);
  for (const channel of [0, 1, 2] as const) colour[channel] = 0.4 * colour[channel] + 0.6 * was[channel] * by;
}

function coverAt(field: Float32Array, size: number, u: number, v: number): number {
  const fx = Math.min(size - 1.001, Math.max(0, u * size - 0.5));
  const fy = Math.min(size - 1.001, Math.max(0, v * size - 0.5));
  const at = (fy | 0) * size + (fx | 0);
  const [x, y] = [fx - (fx | 0), fy - (fy | 0)];
  return (
    ((field[at] as number) * (1 - x) + (field[at + 1] as number) * x) * (1 - y) +
    ((field[at + size] as number) * (1 - x) + (field[at + size + 1] as number) * x) * y
  );
}

/** Adds `share` of the texture at a spot to `into`. */
function featuresAt(
  { size, data }: FaceDrawing['levels'][number],
  u: number,
  v: number,
  into: [number, number, number],
  share: number,
): void {
  const fx = Math.min(size - 1.001, Math.max(0, u * size - 0.5));
  const fy = Math.min(size - 1.001, Math.max(0, v * size - 0.5));
  const [x, y] = [fx - (fx | 0), fy - (fy | 0)];
  const upper = ((fy | 0) * size + (fx | 0)) * 3;
  const lower = upper + size * 3;
  const [w00, w10, w01, w11] = [
    (1 - x) * (1 - y) * share,
    x * (1 - y) * share,
    (1 - x) * y * share,
    x * y * share,
  ];
  for (let channel = 0; channel < 3; channel += 1) {
    into[channel] =
      (into[channel] as number) +
      (data[upper + channel] as number) * w00 +
      (data[upper + 3 + channel] as number) * w10 +
      (data[lower + channel] as number) * w01 +
      (data[lower + 3 + channel] as number) * w11;
  }
}
