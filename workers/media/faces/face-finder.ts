import type { ModelStore } from '../../models/model-store.ts';
import { type FaceDetection, mergeSameFaces } from './face-detection.ts';
import { FaceDetector } from './face-detector.ts';
import { type FaceMesh, meshBox } from './face-mesh.ts';
import { MeshModel } from './mesh-model.ts';
import { regionOfDetection, regionOfMesh } from './mesh-region.ts';
import { PictureChange } from './picture-change.ts';
import { type Box, boxOverlap, type RgbFrame } from './rgb-frame.ts';
import { aroundBox, wholeFrame } from './square-region.ts';

/** A face in one frame, in its pixels. */
export type FoundFace = {
  /** Around the mesh where there is one, else the detector's. */
  readonly box: Box;
  /** The detector's, 0 to 1. */
  readonly score: number;
  /** Null for a face that is turned too far away or too dark for the mesh. */
  readonly mesh: FaceMesh | null;
};

/** Below this the mesh model says that there is no face: houses and cats have 0.15 and less. */
const leastPresence = 0.5;
/** A detection this sure is a face even when the mesh model sees none. */
const leastScoreWithoutMesh = 0.8;
/** Faces lower than this part of the frame's shorter side may have smaller ones beside them. */
const smallFace = 0.16;
/** How often tiles are looked at where no face, or only small ones, are known: about once a second. */
const framesBetweenTiles = 8;
/** Lower than this many pixels of the frame, no mesh can tell a face from an ornament. */
const leastHeight = 12;
/** A known small face is looked for again in a square of so many times its size. */
const searchScale = 4;

/** So often the detector looks for new faces; meanwhile the known ones are followed by their meshes alone. */
const framesBetweenDetections = 4;
/** A followed face is where it was, and the mesh is sure of it: otherwise the detector looks again. */
const leastFollowedPresence = 0.9;
const leastFollowedOverlap = 0.4;

/**
 * Finds the faces of a video frame by frame. Small faces that a look at the whole frame misses are searched
 * for in tiles once a second, and then followed where they were. While the picture stays the same shot, the
 * detector looks at every fourth frame only.
 */
export class FaceFinder {
  readonly #detector: FaceDetector;
  readonly #mesh: MeshModel;
  readonly #change = new PictureChange();
  #known: readonly FoundFace[] = [];
  #framesSinceDetection = framesBetweenDetections;
  #small: readonly Box[] = [];
  #framesSinceTiles = framesBetweenTiles;

  private constructor(detector: FaceDetector, mesh: MeshModel) {
    this.#detector = detector;
    this.#mesh = mesh;
  }

  /** Loads the models. Throws `ModelUnusable`. */
  static async open(models: ModelStore): Promise<FaceFinder> {
    return new FaceFinder(await FaceDetector.open(models), await MeshModel.open(models));
  }

  /** The faces of the next frame, the surest first. Takes some 3 ms, and 10 ms more a face, on a slow core. */
  async find(frame: RgbFrame): Promise<readonly FoundFace[]> {
    const isSameShot = !this.#change.isNewPicture(frame);
    this.#framesSinceTiles += 1;
    this.#framesSinceDetection += 1;
    const mayFollow = isSameShot && this.#framesSinceDetection < framesBetweenDetections;
    const followed = mayFollow ? await this.#follow(frame) : undefined;
    this.#known = followed ?? (await this.#look(frame));
    return this.#known;
  }

  /** The known faces a moment later; undefined where there are none or one of them is lost. */
  async #follow(frame: RgbFrame): Promise<readonly FoundFace[] | undefined> {
    const followed: FoundFace[] = [];
    for (const known of this.#known) {
      if (known.mesh === null) return undefined;
      const mesh = await this.#mesh.find(frame, regionOfMesh(known.mesh));
      const box = meshBox(mesh);
      if (mesh.presence < leastFollowedPresence || boxOverlap(box, known.box) < leastFollowedOverlap) {
        return undefined;
      }
      followed.push({ box, score: known.score, mesh });
    }
    return followed.length === 0 ? undefined : followed;
  }

  async #look(frame: RgbFrame): Promise<readonly FoundFace[]> {
    this.#framesSinceDetection = 0;
    const found: FoundFace[] = [];
    for (const detection of await this.#detect(frame)) {
      if (detection.box.bottom - detection.box.top < leastHeight) continue;
      const mesh = await this.#mesh.find(frame, regionOfDetection(detection));
      if (mesh.presence >= leastPresence) found.push({ box: meshBox(mesh), score: detection.score, mesh });
      else if (detection.score >= leastScoreWithoutMesh) {
        found.push({ box: detection.box, score: detection.score, mesh: null });
      }
    }
    this.#small = found.map(({ box }) => box).filter((box) => isSmall(box, frame));
    return withoutDoubles(found);
  }

  async #detect(frame: RgbFrame): Promise<readonly FaceDetection[]> {
    const found = [...(await this.#detector.find(frame, wholeFrame(frame)))];
    for (const known of this.#small) {
      if (found.some(({ box }) => boxOverlap(box, known) > 0.2)) continue;
      found.push(...(await this.#detector.find(frame, aroundBox(known, searchScale))));
    }
    const tilesMayHelp = found.every(({ box }) => isSmall(box, frame));
    if (tilesMayHelp && this.#framesSinceTiles >= framesBetweenTiles) {
      this.#framesSinceTiles = 0;
      found.push(...(await this.#detector.findInTiles(frame)));
    }
    return mergeSameFaces(found);
  }
}

function isSmall(box: Box, frame: RgbFrame): boolean {
  return box.bottom - box.top < smallFace * Math.min(frame.width, frame.height);
}

/** Two detections can lead the mesh to the same face. */
function withoutDoubles(faces: readonly FoundFace[]): readonly FoundFace[] {
  return faces.filter((face, index) =>
    faces.slice(0, index).every((before) => boxOverlap(before.box, face.box) < 0.5),
  );
}
