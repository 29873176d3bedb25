import type { Point, RgbFrame } from '../../media/faces/rgb-frame.ts';
import { fitSimilarity2d, inverse, type Similarity2d } from './similarity-2d.ts';

/** Where ArcFace expects eyes, nose and mouth corners in its 112 x 112 pixels. */
export const arcFaceTemplate: readonly Point[] = [
  { x: 38.2946, y: 51.6963 },
  { x: 73.5318, y: 51.5014 },
  { x: 56.0252, y: 71.7366 },
  { x: 41.5493, y: 92.3655 },
  { x: 70.7299, y: 92.2041 },
];

/** The template for larger faces: 128 and its multiples have 8 pixels more on each side than 112 (InsightFace). */
export function faceTemplate(size: number): readonly Point[] {
  if (size === 112) return arcFaceTemplate;
  const scale = size / 128;
  return arcFaceTemplate.map(({ x, y }) => ({ x: (x + 8) * scale, y: y * scale }));
}

/** FFHQ's place of the five points in 512 x 512 pixels, which face restorers were trained on. */
export const restorerTemplate: readonly Point[] = [
  { x: 192.98138, y: 239.94708 },
  { x: 318.90277, y: 240.1936 },
  { x: 256.63416, y: 314.01935 },
  { x: 201.26117, y: 371.41043 },
  { x: 313.08905, y: 371.15118 },
];

/** A face cut out upright: RGB, 0 to 255 [size * size * 3], and how frame and cut-out belong together. */
export type AlignedFace = {
  readonly pixels: Float32Array;
  readonly size: number;
  readonly fromFrame: Similarity2d;
};

/** Cuts a face out by its five points. Outside of the frame is black. Pure. */
export function alignFace(
  frame: RgbFrame,
  points: readonly Point[],
  template: readonly Point[],
  size: number,
): AlignedFace {
  const fromFrame = fitSimilarity2d(points, template);
  const back = inverse(fromFrame);
  const pixels = new Float32Array(size * size * 3);
  for (let y = 0, at = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1, at += 3) {
      const sourceX = back.a * x - back.b * y + back.tx;
      const sourceY = back.b * x + back.a * y + back.ty;
      if (sourceX < 0 || sourceY < 0 || sourceX > frame.width - 1 || sourceY > frame.height - 1) continue;
      blend(frame, sourceX, sourceY, pixels, at);
    }
  }
  return { pixels, size, fromFrame };
}

function blend({ data, width, height }: RgbFrame, x: number, y: number, out: Float32Array, at: number): void {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [right, bottom] = [Math.min(width - 1, left + 1), Math.min(height - 1, top + 1)];
  const [partX, partY] = [x - left, y - top];
  for (let channel = 0; channel < 3; channel += 1) {
    const value = (column: number, row: number): number =>
      data[(row * width + column) * 3 + channel] as number;
    out[at + channel] =
      (value(left, top) * (1 - partX) + value(right, top) * partX) * (1 - partY) +
      (value(left, bottom) * (1 - partX) + value(right, bottom) * partX) * partY;
  }
}

/** Pixels as a model's input [1, 3, size, size]: `(value - mean) / scale`. Pure. */
export function planes(
  { pixels, size }: Pick<AlignedFace, 'pixels' | 'size'>,
  mean: number,
  scale: number,
): Float32Array {
  const count = size * size;
  return Float32Array.from({ length: count * 3 }, (_, at) => {
    const channel = Math.floor(at / count);
    return ((pixels[(at % count) * 3 + channel] as number) - mean) / scale;
  });
}

/** A model's output [1, 3, size, size] as pixels: `value * scale + mean`, within 0 and 255. Pure. */
export function pixelsOf(values: Float32Array, size: number, mean: number, scale: number): Float32Array {
  const count = size * size;
  return Float32Array.from({ length: count * 3 }, (_, at) => {
    const value = (values[(at % 3) * count + Math.floor(at / 3)] as number) * scale + mean;
    return Math.min(255, Math.max(0, value));
  });
}

/**
 * Lays a new face over the frame where the aligned one was cut out: full inside, fading out over the outer tenth,
 * as InsightFace does it (mask eroded by size / 10, blurred by size / 20). Changes `frame.data`, only there.
 */
export function pasteBack(frame: RgbFrame, face: AlignedFace): void {
  const { data, width, height } = frame;
  const { pixels, size, fromFrame } = face;
  const back = inverse(fromFrame);
  const corners = [
    [0, 0],
    [size, 0],
    [0, size],
    [size, size],
  ].map(([x = 0, y = 0]) => ({ x: back.a * x - back.b * y + back.tx, y: back.b * x + back.a * y + back.ty }));
  const left = Math.max(0, Math.floor(Math.min(...corners.map(({ x }) => x))));
  const right = Math.min(width - 1, Math.ceil(Math.max(...corners.map(({ x }) => x))));
  const top = Math.max(0, Math.floor(Math.min(...corners.map(({ y }) => y))));
  const bottom = Math.min(height - 1, Math.ceil(Math.max(...corners.map(({ y }) => y))));
  const [eroded, blurred] = [size / 10, size / 20];
  const colour = new Float32Array(3);
  const cut = { data: pixels as unknown as Uint8Array, width: size, height: size };
  for (let y = top; y <= bottom; y += 1) {
    for (let x = left; x <= right; x += 1) {
      const u = fromFrame.a * x - fromFrame.b * y + fromFrame.tx;
      const v = fromFrame.b * x + fromFrame.a * y + fromFrame.ty;
      const inside = Math.min(u, v, size - 1 - u, size - 1 - v);
      const part = Math.min(1, Math.max(0, (inside - eroded + blurred) / (2 * blurred)));
      if (part <= 0) continue;
      const share = part * part * (3 - 2 * part);
      blend(cut, u, v, colour, 0);
      const at = (y * width + x) * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        const was = data[at + channel] as number;
        data[at + channel] = Math.round(was + ((colour[channel] as number) - was) * share);
      }
    }
  }
}
