import type { Box, Point, RgbFrame } from './rgb-frame.ts';

/** A square of a frame, possibly turned: what a model gets to see. */
export type SquareRegion = {
  readonly centre: Point;
  /** Length of a side, in pixels of the frame. */
  readonly side: number;
  /** Radians, clockwise as seen: how far the region's upper edge is turned against the frame's. */
  readonly angle: number;
};

/** How pixel values become numbers: `value * scale + offset`. */
export type PixelCoding = { readonly scale: number; readonly offset: number };

/** The whole frame, letterboxed into a square. */
export function wholeFrame(frame: RgbFrame): SquareRegion {
  return {
    centre: { x: frame.width / 2, y: frame.height / 2 },
    side: Math.max(frame.width, frame.height),
    angle: 0,
  };
}

/** The upright square around a box, `scale` times its longer side. */
export function aroundBox(box: Box, scale: number): SquareRegion {
  return {
    centre: { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 },
    side: Math.max(box.right - box.left, box.bottom - box.top) * scale,
    angle: 0,
  };
}

/** A point of the region, in parts of its side (0 to 1), as a point of the frame. */
export function toFrame(region: SquareRegion, x: number, y: number): Point {
  const dx = (x - 0.5) * region.side;
  const dy = (y - 0.5) * region.side;
  const [cos, sin] = [Math.cos(region.angle), Math.sin(region.angle)];
  return { x: region.centre.x + dx * cos - dy * sin, y: region.centre.y + dx * sin + dy * cos };
}

/** More samples a pixel than this add nothing that the models could see. */
const mostSamplesPerAxis = 4;

/**
 * Draws a region of a frame into a tensor of `size` x `size` x 3 (rows, columns, RGB). Where the region is
 * larger than the tensor, several samples are averaged, so that fine texture does not turn into noise;
 * where it is smaller, neighbours are blended. Outside of the frame is black. Pure but for `tensor`.
 */
export function drawRegion(
  frame: RgbFrame,
  region: SquareRegion,
  size: number,
  coding: PixelCoding,
  tensor: Float32Array,
): void {
  const step = region.side / size;
  const samples = Math.min(mostSamplesPerAxis, Math.max(1, Math.round(step)));
  if (samples === 1) drawBlended(frame, region, size, coding, tensor);
  else if (region.angle === 0) drawUpright(frame, region, size, samples, coding, tensor);
  else drawAveraged(frame, region, size, samples, coding, tensor);
}

/** `drawAveraged` for a region that is not turned, as detectors get it: each row and column is worked out once. */
function drawUpright(
  frame: RgbFrame,
  region: SquareRegion,
  size: number,
  samples: number,
  coding: PixelCoding,
  tensor: Float32Array,
): void {
  const { data } = frame;
  const columns = sampledLines(region.centre.x, region.side, size * samples, frame.width);
  const rows = sampledLines(region.centre.y, region.side, size * samples, frame.height);
  const scale = coding.scale / (samples * samples);
  const sums = new Float64Array(size * 3);
  for (let y = 0; y < size; y += 1) {
    sums.fill(0);
    for (let v = y * samples; v < (y + 1) * samples; v += 1) {
      const row = rows[v] as number;
      if (row < 0) continue;
      const rowStart = row * frame.width;
      for (let x = 0, out = 0, u = 0; x < size; x += 1, out += 3) {
        for (const end = u + samples; u < end; u += 1) {
          const column = columns[u] as number;
          if (column < 0) continue;
          const at = (rowStart + column) * 3;
          sums[out] = (sums[out] as number) + (data[at] as number);
          sums[out + 1] = (sums[out + 1] as number) + (data[at + 1] as number);
          sums[out + 2] = (sums[out + 2] as number) + (data[at + 2] as number);
        }
      }
    }
    const rowOut = y * size * 3;
    for (let out = 0; out < size * 3; out += 1) {
      tensor[rowOut + out] = (sums[out] as number) * scale + coding.offset;
    }
  }
}

/** The frame's row or column under each of `count` samples along a side; -1 outside of the frame. */
function sampledLines(centre: number, side: number, count: number, length: number): Int32Array {
  return Int32Array.from({ length: count }, (_, index) => {
    const line = Math.floor(centre + ((index + 0.5) / count - 0.5) * side);
    return line < 0 || line >= length ? -1 : line;
  });
}

function drawAveraged(
  frame: RgbFrame,
  region: SquareRegion,
  size: number,
  samples: number,
  coding: PixelCoding,
  tensor: Float32Array,
): void {
  const { data, width, height } = frame;
  const fine = region.side / size / samples;
  const [cos, sin] = [Math.cos(region.angle) * fine, Math.sin(region.angle) * fine];
  const first = toFrame(region, 0.5 / size / samples, 0.5 / size / samples);
  const scale = coding.scale / (samples * samples);
  for (let y = 0, out = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1, out += 3) {
      let red = 0;
      let green = 0;
      let blue = 0;
      for (let v = y * samples; v < (y + 1) * samples; v += 1) {
        for (let u = x * samples; u < (x + 1) * samples; u += 1) {
          const sourceX = Math.floor(first.x + u * cos - v * sin);
          const sourceY = Math.floor(first.y + u * sin + v * cos);
          if (sourceX < 0 || sourceY < 0 || sourceX >= width || sourceY >= height) continue;
          const at = (sourceY * width + sourceX) * 3;
          red += data[at] as number;
          green += data[at + 1] as number;
          blue += data[at + 2] as number;
        }
      }
      tensor[out] = red * scale + coding.offset;
      tensor[out + 1] = green * scale + coding.offset;
      tensor[out + 2] = blue * scale + coding.offset;
    }
  }
}

function drawBlended(
  frame: RgbFrame,
  region: SquareRegion,
  size: number,
  coding: PixelCoding,
  tensor: Float32Array,
): void {
  const { data, width, height } = frame;
  const step = region.side / size;
  const [cos, sin] = [Math.cos(region.angle) * step, Math.sin(region.angle) * step];
  const first = toFrame(region, 0.5 / size, 0.5 / size);
  for (let y = 0, out = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1, out += 3) {
      // Pixel centres lie at halves: shifted by one half, neighbours are at whole numbers.
      const sourceX = first.x + x * cos - y * sin - 0.5;
      const sourceY = first.y + x * sin + y * cos - 0.5;
      if (sourceX < -1 || sourceY < -1 || sourceX > width || sourceY > height) {
        tensor.fill(coding.offset, out, out + 3);
        continue;
      }
      const left = Math.min(width - 1, Math.max(0, Math.floor(sourceX)));
      const top = Math.min(height - 1, Math.max(0, Math.floor(sourceY)));
      const right = Math.min(width - 1, left + 1);
      const bottom = Math.min(height - 1, top + 1);
      const partX = Math.min(1, Math.max(0, sourceX - left));
      const partY = Math.min(1, Math.max(0, sourceY - top));
      for (let channel = 0; channel < 3; channel += 1) {
        const upper =
          (data[(top * width + left) * 3 + channel] as number) * (1 - partX) +
          (data[(top * width + right) * 3 + channel] as number) * partX;
        const lower =
          (data[(bottom * width + left) * 3 + channel] as number) * (1 - partX) +
          (data[(bottom * width + right) * 3 + channel] as number) * partX;
        tensor[out + channel] = (upper * (1 - partY) + lower * partY) * coding.scale + coding.offset;
      }
    }
  }
}
