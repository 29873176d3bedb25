import type { FrameFormat } from './video-frames.ts';

/** A raw 4:2:0 frame: brightness, then the two planes of colour differences at half the size. */
export type YuvFrame = FrameFormat & { readonly data: Uint8Array };

/** A part of a frame as packed RGB; sides and corner are even. */
export type RgbPatch = {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly top: number;
};

type Coefficients = {
  readonly redV: number;
  readonly greenU: number;
  readonly greenV: number;
  readonly blueU: number;
  readonly kr: number;
  readonly kb: number;
};

const coefficients: Readonly<Record<FrameFormat['matrix'], Coefficients>> = {
  bt709: { redV: 1.79274, greenU: 0.21325, greenV: 0.53291, blueU: 2.1124, kr: 0.2126, kb: 0.0722 },
  bt601: { redV: 1.59603, greenU: 0.39176, greenV: 0.81297, blueU: 2.01723, kr: 0.299, kb: 0.114 },
};
const lumaScale = 255 / 219;

/** Reads a square around a point out of a frame, cut off at the frame's edges. Pure. */
export function readPatch(
  frame: YuvFrame,
  around: { readonly x: number; readonly y: number; readonly side: number },
): RgbPatch {
  const even = (value: number): number => Math.floor(value / 2) * 2;
  const left = even(Math.max(0, Math.min(frame.width - 2, around.x - around.side / 2)));
  const top = even(Math.max(0, Math.min(frame.height - 2, around.y - around.side / 2)));
  const right = even(Math.min(frame.width, Math.max(left + 2, around.x + around.side / 2)));
  const bottom = even(Math.min(frame.height, Math.max(top + 2, around.y + around.side / 2)));
  const patch = { width: right - left, height: bottom - top, left, top };
  const data = new Uint8Array(patch.width * patch.height * 3);
  toRgb(frame, patch, data);
  return { ...patch, data };
}

function toRgb(frame: YuvFrame, patch: Omit<RgbPatch, 'data'>, out: Uint8Array): void {
  const { redV, greenU, greenV, blueU } = coefficients[frame.matrix];
  const { width, height, data } = frame;
  const [uStart, half] = [width * height, width / 2];
  const vStart = uStart + uStart / 4;
  const clamped = (value: number): number => (value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
  for (let y = 0, at = 0; y < patch.height; y += 1) {
    const row = (patch.top + y) * width + patch.left;
    const chroma = ((patch.top + y) >> 1) * half + (patch.left >> 1);
    for (let x = 0; x < patch.width; x += 1, at += 3) {
      const luma = ((data[row + x] as number) - 16) * lumaScale;
      const u = (data[uStart + chroma + (x >> 1)] as number) - 128;
      const v = (data[vStart + chroma + (x >> 1)] as number) - 128;
      out[at] = clamped(luma + redV * v);
      out[at + 1] = clamped(luma - greenU * u - greenV * v);
      out[at + 2] = clamped(luma + blueU * u);
    }
  }
}

/**
 * Writes back what was changed of a patch: each 2 x 2 of pixels that differs from `before`, and nothing else, so
 * that the rest of the frame stays as decoded. Changes `frame.data`.
 */
export function writePatch(frame: YuvFrame, patch: RgbPatch, before: Uint8Array): void {
  const { kr, kb } = coefficients[frame.matrix];
  const kg = 1 - kr - kb;
  // Of four pixels' sums, each from -255 to 255: 224 steps around 128.
  const uScale = 112 / 1020 / (1 - kb);
  const vScale = 112 / 1020 / (1 - kr);
  const { width, height, data } = frame;
  const [uStart, half] = [width * height, width / 2];
  const vStart = uStart + uStart / 4;
  const after = patch.data;
  const line = patch.width * 3;
  for (let y = 0; y < patch.height; y += 2) {
    for (let x = 0; x < patch.width; x += 2) {
      const first = y * line + x * 3;
      if (isSame(before, after, first, line)) continue;
      let u = 0;
      let v = 0;
      for (let corner = 0; corner < 4; corner += 1) {
        const at = first + (corner & 1) * 3 + (corner >> 1) * line;
        const r = after[at] as number;
        const b = after[at + 2] as number;
        const luma = kr * r + kg * (after[at + 1] as number) + kb * b;
        u += b - luma;
        v += r - luma;
        data[(patch.top + y + (corner >> 1)) * width + patch.left + x + (corner & 1)] =
          16.5 + luma / lumaScale;
      }
      const chroma = ((patch.top + y) >> 1) * half + ((patch.left + x) >> 1);
      data[uStart + chroma] = 128.5 + u * uScale;
      data[vStart + chroma] = 128.5 + v * vScale;
    }
  }
}

function isSame(before: Uint8Array, after: Uint8Array, first: number, line: number): boolean {
  for (let channel = 0; channel < 6; channel += 1) {
    const upper = first + channel;
    if (before[upper] !== after[upper] || before[upper + line] !== after[upper + line]) return false;
  }
  return true;
}
