import { MediaFailure } from '#infra/media/media-failure.ts';
import { FaceFinder, type FoundFace } from '../../media/faces/face-finder.ts';
import { eyeDistance, type HeadPose, headPose, lipOpening } from '../../media/faces/face-measures.ts';
import { type FaceMesh, meshBox } from '../../media/faces/face-mesh.ts';
import type { RgbFrame } from '../../media/faces/rgb-frame.ts';
import type { ModelStore } from '../../models/model-store.ts';
import type { ExaminedFace } from '../contract.ts';
import { sharpness, skinBrightness } from './photo-quality.ts';
import { croppedFrame, type ReadImage, readImage } from './read-image.ts';

/** The face of the image, cut out, with its points in the cut-out's pixels. */
export type SourceFace = {
  readonly examined: ExaminedFace;
  readonly frame: RgbFrame;
  /** [478 * 3] */
  readonly points: Float32Array;
  /** In eye distances. */
  readonly lipOpening: number;
};

/** Between the outer corners of the eyes, in pixels: below, there are no features to take over. */
const leastEyeDistance = 28;
/** Features are not drawn finer than at this eye distance. */
const mostEyeDistance = 190;
const mostYaw = 48;
const mostPitch = 32;
/** How much of the face may lie beyond the image's edge, in parts of its height. */
const mostCutOff = 0.06;
const leastSharpness = 0.04;
const leastBrightness = 12;
const largeAgainst = 0.5;

/**
 * Reads the face image, chooses its face (the largest) and says what speaks against it. Throws `MediaFailure`
 * whose message says what photo would do.
 */
export async function sourceFace(path: string, models: ModelStore): Promise<SourceFace> {
  const image = await readImage(path);
  const finder = await FaceFinder.open(models);
  const faces = (await finder.find(image.frame)).toSorted((a, b) => height(b) - height(a));
  const [largest] = faces;
  if (largest === undefined) {
    throw unusable(
      'No face was found in the face image: give a photo of one face, well lit, seen from the front and not small in the picture.',
    );
  }
  const scale = image.width / image.frame.width;
  const { mesh } = largest;
  if (mesh === null) throw turnedAway();
  assertUsable(mesh, image, scale);
  const pose = headPose(mesh);
  return {
    examined: examined(image, largest, faces, pose, scale),
    ...(await cutOut(image.frame, mesh, models)),
    lipOpening: lipOpening(mesh),
  };
}

function assertUsable(mesh: FaceMesh, image: ReadImage, scale: number): void {
  const eyes = eyeDistance(mesh) * scale;
  if (eyes < leastEyeDistance) {
    throw unusable(
      `The face in the face image is too small, ${Math.round(eyes)} pixels from eye to eye: give a photo in which they are at least ${leastEyeDistance} pixels apart, better 100.`,
    );
  }
  const { yaw, pitch } = headPose(mesh);
  if (Math.abs(yaw) > mostYaw || Math.abs(pitch) > mostPitch) throw turnedAway();
  const box = meshBox(mesh);
  const beyond = Math.max(
    -box.left,
    -box.top,
    box.right - image.frame.width,
    box.bottom - image.frame.height,
  );
  if (beyond > (box.bottom - box.top) * mostCutOff) {
    throw unusable(
      'The face in the face image is cut off at the edge: give a photo that shows it whole, with some space around.',
    );
  }
  if (skinBrightness(image.frame, mesh) < leastBrightness) {
    throw unusable('The face in the face image is too dark: give a photo taken in good light.');
  }
  if (sharpness(image.frame, mesh) < leastSharpness) {
    throw unusable('The face in the face image is too blurred: give a sharp photo.');
  }
}

function turnedAway(): MediaFailure {
  return unusable(
    'The face in the face image is turned too far away: give a photo in which it looks towards the camera, both eyes visible.',
  );
}

function unusable(message: string): MediaFailure {
  return new MediaFailure('FACE_NOT_USABLE', message);
}

function height({ box }: FoundFace): number {
  return box.bottom - box.top;
}

function examined(
  image: ReadImage,
  largest: FoundFace,
  faces: readonly FoundFace[],
  pose: HeadPose,
  scale: number,
): ExaminedFace {
  const { box } = largest;
  const isClose = faces.length > 1 && height(faces[1] as FoundFace) > height(largest) * largeAgainst;
  return {
    image_width: image.width,
    image_height: image.height,
    face_count: faces.length,
    chosen: {
      left: Math.round(box.left * scale),
      top: Math.round(box.top * scale),
      width: Math.round((box.right - box.left) * scale),
      height: Math.round((box.bottom - box.top) * scale),
    },
    yaw: Math.round(pose.yaw),
    pitch: Math.round(pose.pitch),
    notes: [
      ...(faces.length > 1
        ? [
            `The face image shows ${faces.length} faces${isClose ? ' of similar size' : ''}: the largest was taken.`,
          ]
        : []),
      ...(Math.abs(pose.yaw) > 25
        ? ['The face in the face image is turned aside: its far side was completed from the near one.']
        : []),
    ],
  };
}

/** The face with a margin, not larger than it is of use; its mesh is found again in there, at its best size. */
async function cutOut(
  frame: RgbFrame,
  mesh: FaceMesh,
  models: ModelStore,
): Promise<Pick<SourceFace, 'frame' | 'points'>> {
  const box = meshBox(mesh);
  const margin = (box.bottom - box.top) * 0.4;
  const left = Math.max(0, Math.floor(box.left - margin));
  const top = Math.max(0, Math.floor(box.top - margin));
  const part = {
    left,
    top,
    width: Math.min(frame.width, Math.ceil(box.right + margin)) - left,
    height: Math.min(frame.height, Math.ceil(box.bottom + margin)) - top,
  };
  const scale = Math.min(1, mostEyeDistance / eyeDistance(mesh));
  const cut = await croppedFrame(frame, part, scale);
  const [found] = (await (await FaceFinder.open(models)).find(cut))
    .filter((each) => each.mesh !== null)
    .toSorted((a, b) => height(b) - height(a));
  const scaleX = cut.width / part.width;
  const scaleY = cut.height / part.height;
  const points =
    found?.mesh?.points ??
    mesh.points.map((value, at) =>
      at % 3 === 0 ? (value - left) * scaleX : at % 3 === 1 ? (value - top) * scaleY : value * scaleX,
    );
  return { frame: cut, points };
}
