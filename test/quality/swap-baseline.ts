import { meshPointCount } from '#workers/media/faces/face-points.ts';
import type { SwapEngine, TargetFace } from '#workers/swap/engine/swap-engine.ts';
import type { SourceFace } from '#workers/swap/image/source-face.ts';
import type { FlatGrids } from '#workers/swap/landmark/source-texture.ts';
import { flattenFace } from '#workers/swap/landmark/uv-grid.ts';
import type { RgbPatch } from '#workers/swap/video/yuv-patch.ts';

/** The plainest swap there is: the source's triangles on the target's mesh, its colours scaled to the target's. */
export function baselineEngine(source: SourceFace, grids: FlatGrids): SwapEngine {
  const { mesh, coarse, zones } = grids;
  const flat = new Float32Array(coarse.size ** 2 * 3);
  flattenFace(source.frame, source.points, coarse, flat);
  const sourceColours = colours(flat, zones.cover);
  return {
    patchScale: 1.3,
    times: { warp_ms: 0, blend_ms: 0 },
    close: async () => undefined,
    swap: async (patch: RgbPatch, face: TargetFace): Promise<RgbPatch> => {
      const target = new Float32Array(coarse.size ** 2 * 3);
      flattenFace(patch, face.points.subarray(0, meshPointCount * 3), coarse, target);
      const targetColours = colours(target, zones.cover);
      const matched = (value: number, channel: number): number => {
        const [from, to] = [sourceColours[channel], targetColours[channel]] as [Colour, Colour];
        return (value - from.mean) * Math.min(1.4, Math.max(0.6, to.spread / from.spread)) + to.mean;
      };
      for (let at = 0; at < mesh.triangles.length; at += 3) {
        drawTriangle(
          patch,
          face.points,
          source,
          { uv: mesh.textureCoordinates, cover: zones.cover, size: coarse.size },
          mesh.triangles.subarray(at, at + 3),
          matched,
        );
      }
      return patch;
    },
  };
}

type Colour = { readonly mean: number; readonly spread: number };

function colours(flat: Float32Array, cover: Float32Array): readonly Colour[] {
  return [0, 1, 2].map((channel) => {
    let [sum, squares, total] = [0, 0, 1e-6];
    for (const [texel, weight] of cover.entries()) {
      const value = flat[texel * 3 + channel] as number;
      sum += weight * value;
      squares += weight * value * value;
      total += weight;
    }
    const mean = sum / total;
    return { mean, spread: Math.sqrt(Math.max(1, squares / total - mean * mean)) };
  });
}

function drawTriangle(
  patch: RgbPatch,
  to: Float32Array,
  source: SourceFace,
  zone: { readonly uv: Float32Array; readonly cover: Float32Array; readonly size: number },
  corners: Uint16Array,
  matched: (value: number, channel: number) => number,
): void {
  const [a, b, c] = corners as unknown as readonly [number, number, number];
  const x = (points: Float32Array, point: number): number => points[point * 3] as number;
  const y = (points: Float32Array, point: number): number => points[point * 3 + 1] as number;
  const area = (y(to, b) - y(to, c)) * (x(to, a) - x(to, c)) + (x(to, c) - x(to, b)) * (y(to, a) - y(to, c));
  if (Math.abs(area) < 1e-4) return;
  const within = (value: number, most: number): number => Math.min(most, Math.max(0, value));
  const ends = (values: readonly number[], most: number): [number, number] => [
    within(Math.floor(Math.min(...values)), most),
    within(Math.ceil(Math.max(...values)), most),
  ];
  const [left, right] = ends(
    [a, b, c].map((point) => x(to, point)),
    patch.width - 1,
  );
  const [top, bottom] = ends(
    [a, b, c].map((point) => y(to, point)),
    patch.height - 1,
  );
  for (let row = top; row <= bottom; row += 1) {
    for (let column = left; column <= right; column += 1) {
      const p =
        ((y(to, b) - y(to, c)) * (column - x(to, c)) + (x(to, c) - x(to, b)) * (row - y(to, c))) / area;
      const q =
        ((y(to, c) - y(to, a)) * (column - x(to, c)) + (x(to, a) - x(to, c)) * (row - y(to, c))) / area;
      const r = 1 - p - q;
      if (p < 0 || q < 0 || r < 0) continue;
      const mixed = (of: (point: number) => number): number => p * of(a) + q * of(b) + r * of(c);
      const u = within(Math.floor(mixed((point) => zone.uv[point * 2] as number) * zone.size), zone.size - 1);
      const v = within(
        Math.floor(mixed((point) => zone.uv[point * 2 + 1] as number) * zone.size),
        zone.size - 1,
      );
      const share = zone.cover[v * zone.size + u] as number;
      const sourceX = within(Math.round(mixed((point) => x(source.points, point))), source.frame.width - 1);
      const sourceY = within(Math.round(mixed((point) => y(source.points, point))), source.frame.height - 1);
      const from = (sourceY * source.frame.width + sourceX) * 3;
      const at = (row * patch.width + column) * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        const was = patch.data[at + channel] as number;
        const now = within(matched(source.frame.data[from + channel] as number, channel), 255);
        patch.data[at + channel] = Math.round(was + (now - was) * share);
      }
    }
  }
}
