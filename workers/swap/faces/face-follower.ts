import { FaceDetector } from '../../media/faces/face-detector.ts';
import { type FaceMesh, meshBox } from '../../media/faces/face-mesh.ts';
import { MeshModel } from '../../media/faces/mesh-model.ts';
import { regionOfDetection, regionOfMesh } from '../../media/faces/mesh-region.ts';
import { type Box, boxOverlap } from '../../media/faces/rgb-frame.ts';
import { aroundBox } from '../../media/faces/square-region.ts';
import type { ModelStore } from '../../models/model-store.ts';
import { readPatch, type YuvFrame } from '../video/yuv-patch.ts';

/** Below this, the mesh is a guess. */
const leastPresence = 0.6;
/** A mesh that lies elsewhere than the plan expects the face is on somebody else's. */
const leastOverlap = 0.2;
/** How much around a face is read: a face that moves by its own width from frame to frame stays inside. */
const searchScale = 2.6;

/** Finds the job's one face in each frame: by its mesh a frame ago, or where the plan expects it. */
export class FaceFollower {
  readonly #mesh: MeshModel;
  readonly #detector: FaceDetector;
  /** Milliseconds of work so far: looking for the face anew, and following it by its mesh. */
  readonly times = { detect_ms: 0, mesh_ms: 0 };
  #last: FaceMesh | undefined;

  private constructor(mesh: MeshModel, detector: FaceDetector) {
    this.#mesh = mesh;
    this.#detector = detector;
  }

  /** Loads the models. Throws `ModelUnusable`. */
  static async open(models: ModelStore): Promise<FaceFollower> {
    return new FaceFollower(await MeshModel.open(models), await FaceDetector.open(models));
  }

  /** Another shot begins: the face is elsewhere. */
  reset(): void {
    this.#last = undefined;
  }

  /** The face's points in pixels of the frame [478 * 3]; undefined where it is not seen well enough. */
  async find(frame: YuvFrame, expected: Box): Promise<Float32Array | undefined> {
    const begun = performance.now();
    const followed = this.#last === undefined ? undefined : await this.#follow(frame, this.#last, expected);
    const after = performance.now();
    this.times.mesh_ms += after - begun;
    const mesh = followed ?? (await this.#search(frame, expected));
    this.times.detect_ms += performance.now() - after;
    this.#last = mesh;
    return mesh?.points;
  }

  async #follow(frame: YuvFrame, last: FaceMesh, expected: Box): Promise<FaceMesh | undefined> {
    const patch = patchAround(frame, meshBox(last));
    const mesh = await this.#mesh.find(patch, regionOfMesh(moved(last, -patch.left, -patch.top)));
    const found = moved(mesh, patch.left, patch.top);
    return isThere(found, expected) ? found : undefined;
  }

  async #search(frame: YuvFrame, expected: Box): Promise<FaceMesh | undefined> {
    const patch = patchAround(frame, expected);
    const box = shifted(expected, -patch.left, -patch.top);
    const [detection] = (await this.#detector.find(patch, aroundBox(box, searchScale)))
      .filter((each) => boxOverlap(each.box, box) > leastOverlap)
      .toSorted((a, b) => boxOverlap(b.box, box) - boxOverlap(a.box, box));
    const region = detection === undefined ? aroundBox(box, 1.5) : regionOfDetection(detection);
    const rough = await this.#mesh.find(patch, region);
    if (rough.presence < leastPresence / 2) return undefined;
    // The mesh's own region is upright by its eyes: the second look is the exact one.
    const mesh = await this.#mesh.find(patch, regionOfMesh(rough));
    const found = moved(mesh, patch.left, patch.top);
    return isThere(found, expected) ? found : undefined;
  }
}

function patchAround(frame: YuvFrame, box: Box): ReturnType<typeof readPatch> {
  return readPatch(frame, {
    x: (box.left + box.right) / 2,
    y: (box.top + box.bottom) / 2,
    side: Math.max(box.right - box.left, box.bottom - box.top) * searchScale,
  });
}

function isThere(mesh: FaceMesh, expected: Box): boolean {
  return mesh.presence >= leastPresence && boxOverlap(meshBox(mesh), expected) >= leastOverlap;
}

function shifted(box: Box, x: number, y: number): Box {
  return { left: box.left + x, right: box.right + x, top: box.top + y, bottom: box.bottom + y };
}

/** A mesh in the pixels of another corner. Pure. */
function moved(mesh: FaceMesh, x: number, y: number): FaceMesh {
  const points = mesh.points.map((value, at) =>
    at % 3 === 0 ? value + x : at % 3 === 1 ? value + y : value,
  );
  return { ...mesh, points };
}
