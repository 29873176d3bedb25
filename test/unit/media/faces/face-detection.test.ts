import { describe, expect, test } from 'vitest';
import {
  decodeDetections,
  fullRangeAnchors,
  shortRangeAnchors,
} from '#workers/media/faces/face-detection.ts';
import { boxOverlap } from '#workers/media/faces/rgb-frame.ts';

const region = { centre: { x: 320, y: 180 }, side: 640, angle: 0 };

/** A full-range answer with faces of 24 pixels of the model's 192 at some anchors. */
function answer(...faces: readonly (readonly [anchor: number, logit: number])[]) {
  const boxes = new Float32Array(2304 * 16);
  const logits = new Float32Array(2304).fill(-20);
  for (const [anchor, logit] of faces) {
    logits[anchor] = logit;
    boxes.set([0, 0, 24, 24, -6, -4, 6, -4], anchor * 16);
  }
  return { boxes, logits, anchors: fullRangeAnchors, inputSize: 192 };
}

describe('detections', () => {
  test('anchors are the centres of the cells, row by row', () => {
    expect(fullRangeAnchors).toHaveLength(2304 * 2);
    expect([...fullRangeAnchors.slice(2, 4)]).toEqual([1.5 / 48, 0.5 / 48].map(Math.fround));
    expect(shortRangeAnchors).toHaveLength(896 * 2);
    expect([...shortRangeAnchors.slice(-2)]).toEqual([7.5 / 8, 7.5 / 8].map(Math.fround));
  });

  test('come out in pixels of the frame', () => {
    const centre = 24 * 48 + 24;
    const [face] = decodeDetections(answer([centre, 3]), region, 0.5);
    const middle = (24.5 / 48 - 0.5) * 640;
    expect(face?.box.left).toBeCloseTo(320 + middle - 40, 3);
    expect(face?.box.bottom).toBeCloseTo(180 + middle + 40, 3);
    expect(face?.points[0]?.x).toBeCloseTo(320 + middle - 20, 3);
    expect(face?.score).toBeCloseTo(1 / (1 + Math.exp(-3)), 6);
  });

  test('of one face become one between them; a face elsewhere stays its own', () => {
    const faces = decodeDetections(answer([1200, 2], [1201, 2], [40, 5]), region, 0.5);
    expect(faces).toHaveLength(2);
    expect(faces[0]?.score).toBeGreaterThan(faces[1]?.score ?? 1);
    const single = decodeDetections(answer([1200, 2]), region, 0.5)[0];
    expect((faces[1]?.box.left ?? 0) - (single?.box.left ?? 0)).toBeCloseTo(640 / 48 / 2, 3);
  });

  test('that are not sure enough are none', () => {
    expect(decodeDetections(answer([100, -0.1]), region, 0.5)).toEqual([]);
  });
});

test('boxes overlap by what they share of what they cover', () => {
  const box = { left: 0, top: 0, right: 10, bottom: 10 };
  expect(boxOverlap(box, box)).toBe(1);
  expect(boxOverlap(box, { left: 5, top: 0, right: 15, bottom: 10 })).toBeCloseTo(1 / 3);
  expect(boxOverlap(box, { left: 10, top: 0, right: 20, bottom: 10 })).toBe(0);
});
