import { type Box, boxOverlap, type Point } from './rgb-frame.ts';
import { type SquareRegion, toFrame } from './square-region.ts';

/** A face that a detector has found, in pixels of the frame. */
export type FaceDetection = {
  /** 0 to 1. */
  readonly score: number;
  /** Brows to chin, about as wide as high. */
  readonly box: Box;
  /** As seen in the picture: the person's right eye (on the left), left eye, nose, mouth, right ear, left ear. */
  readonly points: readonly Point[];
};

/** The centres of a detector's anchors, in parts of its input (0 to 1): x and y in turn. */
export type Anchors = Float32Array;

/** One anchor for each cell of a 48 x 48 grid. */
export const fullRangeAnchors: Anchors = anchorGrid([{ cells: 48, perCell: 1 }]);
/** Two for each cell of 16 x 16, then six for each of 8 x 8. */
export const shortRangeAnchors: Anchors = anchorGrid([
  { cells: 16, perCell: 2 },
  { cells: 8, perCell: 6 },
]);

function anchorGrid(layers: readonly { readonly cells: number; readonly perCell: number }[]): Anchors {
  return Float32Array.from(
    layers.flatMap(({ cells, perCell }) =>
      Array.from({ length: cells * cells * perCell }, (_, index) => Math.floor(index / perCell)).flatMap(
        (cell) => [((cell % cells) + 0.5) / cells, (Math.floor(cell / cells) + 0.5) / cells],
      ),
    ),
  );
}

/** What a detector answered: `boxes` [anchors, 16] in pixels of its input, `logits` [anchors]. */
export type RawDetections = {
  readonly boxes: Float32Array;
  readonly logits: Float32Array;
  readonly anchors: Anchors;
  /** Side of the detector's input in pixels. */
  readonly inputSize: number;
};

const valuesPerAnchor = 16;
const pointCount = 6;
/** Detections that overlap more than this are the same face. */
const sameFaceOverlap = 0.3;

/**
 * The faces in a detector's answer, the surest first. Several detections of one face become one, their boxes
 * and points averaged by score: steadier from frame to frame than the best one alone. Pure.
 */
export function decodeDetections(
  raw: RawDetections,
  region: SquareRegion,
  leastScore: number,
): readonly FaceDetection[] {
  const leastLogit = Math.log(leastScore / (1 - leastScore));
  const found: FaceDetection[] = [];
  for (const [anchor, logit] of raw.logits.entries()) {
    if (logit >= leastLogit) found.push(decodeOne(raw, anchor, region));
  }
  return mergeSameFaces(found);
}

function decodeOne(raw: RawDetections, anchor: number, region: SquareRegion): FaceDetection {
  const { boxes, anchors, inputSize } = raw;
  const start = anchor * valuesPerAnchor;
  const value = (index: number): number => (boxes[start + index] as number) / inputSize;
  const [anchorX, anchorY] = [anchors[anchor * 2] as number, anchors[anchor * 2 + 1] as number];
  const centre = toFrame(region, anchorX + value(0), anchorY + value(1));
  const [halfWidth, halfHeight] = [(value(2) * region.side) / 2, (value(3) * region.side) / 2];
  return {
    score: 1 / (1 + Math.exp(-(raw.logits[anchor] as number))),
    box: {
      left: centre.x - halfWidth,
      top: centre.y - halfHeight,
      right: centre.x + halfWidth,
      bottom: centre.y + halfHeight,
    },
    points: Array.from({ length: pointCount }, (_, index) =>
      toFrame(region, anchorX + value(4 + index * 2), anchorY + value(5 + index * 2)),
    ),
  };
}

/** One detection for each face, the surest first. Pure. */
export function mergeSameFaces(detections: readonly FaceDetection[]): readonly FaceDetection[] {
  let left = detections.toSorted((a, b) => b.score - a.score);
  const merged: FaceDetection[] = [];
  for (let best = left[0]; best !== undefined; best = left[0]) {
    const { box } = best;
    const same = left.filter((each) => each === best || boxOverlap(each.box, box) > sameFaceOverlap);
    merged.push(averaged(same, best.score));
    left = left.filter((each) => !same.includes(each));
  }
  return merged;
}

function averaged(same: readonly FaceDetection[], score: number): FaceDetection {
  const total = same.reduce((sum, each) => sum + each.score, 0);
  const mean = (value: (each: FaceDetection) => number): number =>
    same.reduce((sum, each) => sum + value(each) * each.score, 0) / total;
  return {
    score,
    box: {
      left: mean(({ box }) => box.left),
      top: mean(({ box }) => box.top),
      right: mean(({ box }) => box.right),
      bottom: mean(({ box }) => box.bottom),
    },
    points: Array.from({ length: pointCount }, (_, index) => ({
      x: mean(({ points }) => points[index]?.x ?? 0),
      y: mean(({ points }) => points[index]?.y ?? 0),
    })),
  };
}
