import { type InferenceSession, Tensor } from 'onnxruntime-node';
import { type Box, boxOverlap, type Point, type RgbFrame } from '../../media/faces/rgb-frame.ts';

export type ScrfdFace = { readonly score: number; readonly box: Box; readonly points: readonly Point[] };

const inputSize = 640;
const strides = [8, 16, 32] as const;
const anchorsPerCell = 2;
const leastScore = 0.5;
const sameFace = 0.4;

/** Finds faces with SCRFD: nine outputs, scores, boxes and points at three strides. */
export async function scrfdFaces(session: InferenceSession, frame: RgbFrame): Promise<readonly ScrfdFace[]> {
  const scale = Math.min(inputSize / frame.width, inputSize / frame.height);
  const answer = await session.run({
    [session.inputNames[0] ?? 'input.1']: new Tensor('float32', letterboxed(frame, scale), [
      1,
      3,
      inputSize,
      inputSize,
    ]),
  });
  const outputs = session.outputNames.map((name) => answer[name]?.data as Float32Array);
  const found = strides.flatMap((stride, at) => {
    const [scores, boxes, points] = [outputs[at], outputs[at + 3], outputs[at + 6]];
    return scores === undefined || boxes === undefined || points === undefined
      ? []
      : decode({ scores, boxes, points, stride, scale });
  });
  return withoutDoubles(found);
}

/** RGB, the picture in the upper left corner, (x - 127.5) / 128. */
function letterboxed(frame: RgbFrame, scale: number): Float32Array {
  const plane = inputSize * inputSize;
  const input = new Float32Array(plane * 3).fill(-127.5 / 128);
  const [width, height] = [Math.floor(frame.width * scale), Math.floor(frame.height * scale)];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const sourceX = Math.min(frame.width - 1, Math.floor((x + 0.5) / scale));
      const sourceY = Math.min(frame.height - 1, Math.floor((y + 0.5) / scale));
      const from = (sourceY * frame.width + sourceX) * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        input[channel * plane + y * inputSize + x] = ((frame.data[from + channel] as number) - 127.5) / 128;
      }
    }
  }
  return input;
}

type Level = {
  readonly scores: Float32Array;
  readonly boxes: Float32Array;
  readonly points: Float32Array;
  readonly stride: number;
  readonly scale: number;
};

/** Distances from an anchor's centre, in strides, as pixels of the frame. */
function decode({ scores, boxes, points, stride, scale }: Level): ScrfdFace[] {
  const cells = inputSize / stride;
  return Array.from(scores.keys())
    .filter((anchor) => (scores[anchor] as number) >= leastScore)
    .map((anchor) => {
      const cell = Math.floor(anchor / anchorsPerCell);
      const centre = { x: (cell % cells) * stride, y: Math.floor(cell / cells) * stride };
      const side = (index: number): number => ((boxes[anchor * 4 + index] as number) * stride) / scale;
      const point = (index: number): Point => ({
        x: (centre.x + (points[anchor * 10 + index * 2] as number) * stride) / scale,
        y: (centre.y + (points[anchor * 10 + index * 2 + 1] as number) * stride) / scale,
      });
      return {
        score: scores[anchor] as number,
        box: {
          left: centre.x / scale - side(0),
          top: centre.y / scale - side(1),
          right: centre.x / scale + side(2),
          bottom: centre.y / scale + side(3),
        },
        points: [0, 1, 2, 3, 4].map(point),
      };
    });
}

function withoutDoubles(faces: readonly ScrfdFace[]): readonly ScrfdFace[] {
  const kept: ScrfdFace[] = [];
  for (const face of faces.toSorted((a, b) => b.score - a.score)) {
    if (kept.every(({ box }) => boxOverlap(box, face.box) < sameFace)) kept.push(face);
  }
  return kept;
}
