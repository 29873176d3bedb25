import type { FaceMesh } from '../../media/faces/face-mesh.ts';
import { regionOfMesh } from '../../media/faces/mesh-region.ts';
import type { RgbFrame } from '../../media/faces/rgb-frame.ts';
import { drawRegion } from '../../media/faces/square-region.ts';

/** A face is judged at this size: its eyes' outer corners are some 40 pixels apart. */
const judgedSize = 128;

/**
 * How sharp a face is: the mean strength of its second derivatives in parts of its contrast, at a fixed size, so that
 * small sharp faces and large ones that are out of focus compare. Pure.
 */
export function sharpness(frame: RgbFrame, mesh: FaceMesh): number {
  const bright = judged(frame, mesh);
  let [sum, mean, squares, count] = [0, 0, 0, 0];
  for (let y = judgedSize / 4; y < (judgedSize * 3) / 4; y += 1) {
    for (let x = judgedSize / 4; x < (judgedSize * 3) / 4; x += 1) {
      const at = y * judgedSize + x;
      const value = bright[at] as number;
      const around =
        (bright[at - 1] as number) +
        (bright[at + 1] as number) +
        (bright[at - judgedSize] as number) +
        (bright[at + judgedSize] as number);
      sum += Math.abs(value - around / 4);
      mean += value;
      squares += value * value;
      count += 1;
    }
  }
  const spread = Math.sqrt(Math.max(1e-9, squares / count - (mean / count) ** 2));
  return sum / count / Math.max(0.02, spread);
}

/** The median brightness of the face's middle, 0 to 255. Pure. */
export function skinBrightness(frame: RgbFrame, mesh: FaceMesh): number {
  const bright = judged(frame, mesh);
  const middle: number[] = [];
  for (let y = judgedSize * 0.35; y < judgedSize * 0.65; y += 1) {
    for (let x = judgedSize * 0.35; x < judgedSize * 0.65; x += 1) {
      middle.push(bright[Math.floor(y) * judgedSize + Math.floor(x)] as number);
    }
  }
  return (middle.toSorted((a, b) => a - b)[middle.length >> 1] ?? 0) * 255;
}

function judged(frame: RgbFrame, mesh: FaceMesh): Float32Array {
  const tensor = new Float32Array(judgedSize ** 2 * 3);
  drawRegion(frame, regionOfMesh(mesh), judgedSize, { scale: 1 / 255, offset: 0 }, tensor);
  return Float32Array.from({ length: judgedSize ** 2 }, (_, at) => {
    const [r, g, b] = [tensor[at * 3] as number, tensor[at * 3 + 1] as number, tensor[at * 3 + 2] as number];
    return 0.299 * r + 0.587 * g + 0.114 * b;
  });
}
