import type { FoundFace } from '../faces/face-finder.ts';
import { eyeCentre, eyeDistance, eyeOpening, headPose, lipOpening } from '../faces/face-measures.ts';
import type { Box, Point } from '../faces/rgb-frame.ts';
import type { FaceTrack } from './analysis-schema.ts';

/** What is kept of a face in one sample, in pixels of the sampled frame; its mesh is far too large to keep. */
export type SampledFace = {
  readonly frame: number;
  readonly box: Box;
  readonly score: number;
  readonly eyes: Point;
  readonly eyeDistance: number;
  readonly lips: number | null;
  readonly lids: number | null;
  readonly yaw: number;
  readonly pitch: number;
  readonly roll: number;
};

/** Without a mesh, the eyes are taken to be where a detector's box has them. */
const eyeHeightInBox = 0.32;
const eyeDistanceInBox = 0.6;

/** The measures of a face that was found in `frame`. Pure. */
export function sampledFace(face: FoundFace, frame: number): SampledFace {
  const { box, score, mesh } = face;
  if (mesh !== null) {
    return {
      ...{ frame, box, score },
      eyes: eyeCentre(mesh),
      eyeDistance: eyeDistance(mesh),
      lips: lipOpening(mesh),
      lids: eyeOpening(mesh),
      ...headPose(mesh),
    };
  }
  const eyes = { x: (box.left + box.right) / 2, y: box.top + (box.bottom - box.top) * eyeHeightInBox };
  const distance = (box.right - box.left) * eyeDistanceInBox;
  return {
    ...{ frame, box, score, eyes, eyeDistance: distance },
    ...{ lips: null, lids: null, yaw: 0, pitch: 0, roll: 0 },
  };
}

/** A track in the form in which it is stored. Pure. */
export function trackColumns(
  faces: readonly SampledFace[],
  size: { readonly width: number; readonly height: number },
): FaceTrack {
  const across = (pixels: number): number => Math.round((pixels / size.width) * 10_000);
  const down = (pixels: number): number => Math.round((pixels / size.height) * 10_000);
  const thousandths = (value: number | null): number => (value === null ? -1 : Math.round(value * 1000));
  return {
    frames: faces.map(({ frame }) => frame),
    left: faces.map(({ box }) => across(box.left)),
    top: faces.map(({ box }) => down(box.top)),
    right: faces.map(({ box }) => across(box.right)),
    bottom: faces.map(({ box }) => down(box.bottom)),
    eyes_x: faces.map(({ eyes }) => across(eyes.x)),
    eyes_y: faces.map(({ eyes }) => down(eyes.y)),
    eye_distance: faces.map((face) => across(face.eyeDistance)),
    lips: faces.map(({ lips }) => thousandths(lips)),
    lids: faces.map(({ lids }) => thousandths(lids)),
    yaw: faces.map(({ yaw }) => Math.round(yaw)),
    pitch: faces.map(({ pitch }) => Math.round(pitch)),
    roll: faces.map(({ roll }) => Math.round(roll)),
    score: faces.map(({ score }) => Math.round(score * 100)),
  };
}
