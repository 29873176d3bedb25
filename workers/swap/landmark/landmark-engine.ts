import type { CanonicalMesh } from '../../media/faces/canonical-mesh.ts';
import { meshPointCount } from '../../media/faces/face-points.ts';
import type { SwapEngine, TargetFace } from '../engine/swap-engine.ts';
import type { RgbPatch } from '../video/yuv-patch.ts';
import { type FaceLight, faceLight } from './face-light.ts';
import { faceZones, leftLids, rightLids, smoothStep } from './face-zones.ts';
import { turn } from './head-pose.ts';
import { identityShift, poseOf, type ShapeSpace, shapeSpace, unposed } from './identity-shape.ts';
import { RenderPool, shared } from './render-pool.ts';
import { reachedFromRim } from './rim-obstacles.ts';
import { type FlatGrids, facing, type SourceTexture, sourceTexture } from './source-texture.ts';
import { flattenFace, uvGrid } from './uv-grid.ts';

const fineSize = 512;
const coarseSize = 128;

/** Made once for a canonical mesh: some 0.2 s. */
export type LandmarkSpace = { readonly grids: FlatGrids; readonly shapes: ShapeSpace };

export function landmarkSpace(mesh: CanonicalMesh): LandmarkSpace {
  const coarse = uvGrid(mesh, coarseSize);
  const grids = { mesh, fine: uvGrid(mesh, fineSize), coarse, zones: faceZones(mesh, coarse) };
  return { grids, shapes: shapeSpace(mesh) };
}

export type LandmarkSource = {
  /** The photograph around the face, and the face's points in its pixels. */
  readonly frame: Pick<RgbPatch, 'data' | 'width' | 'height'>;
  readonly points: Float32Array;
  /** How far the lips are apart, in eye distances. */
  readonly lipOpening: number;
};

/** Light changes slowly against frames; obstacles come and go within a few. */
const lightMemory = 0.7;
const obstacleMemory = 0.5;
const eyeMemory = 0.9;
/** Behind dark lenses eyes lie in sockets that the source's lids do not have: they are drawn as much brighter. */
const eyeGainRange = { least: 0.9, most: 1.8 } as const;
/** What is this unlike skin, and joined to the face's rim, lies before the face. */
const leastObstacle = 2.8;
const contrastRange = { least: 0.5, most: 1 } as const;
/** Features that are not the target's own look stronger than they are. */
const contrastShare = 0.92;
/** Lips that are this far apart (eye distances) no longer tell how long the chin is. */
const openMouth = 0.25;
/** The face is drawn between its rim and this many heights of it. */
const patchScale = 1.9;
const grainShare = 0.8;
/** The flattened face has its eyes' outer corners this far apart, in parts of its side. */
const eyeShare = 0.44;

type Remembered = {
  light: Float32Array;
  hidden: Float32Array;
  contrast: number;
  /** Of the left and the right eye. */
  eyeGains: Float32Array;
};

/** The embedded engine: the source's face as a picture on the target's mesh, in the target's light. */
export class LandmarkEngine implements SwapEngine {
  readonly patchScale = patchScale;
  readonly times = { warp_ms: 0, blend_ms: 0 };
  readonly #space: LandmarkSpace;
  readonly #texture: SourceTexture;
  readonly #shift: Float32Array;
  readonly #pool: RenderPool;
  readonly #flat = new Float32Array(coarseSize ** 2 * 3);
  #before: Remembered | undefined;

  constructor(space: LandmarkSpace, source: LandmarkSource, targetShape: Float32Array) {
    this.#space = space;
    this.#texture = sourceTexture(source.frame, source.points, space.grids);
    const calm = 1 - Math.min(1, source.lipOpening / openMouth);
    const sourceShape = unposed(source.points, space.shapes);
    this.#shift = identityShift(sourceShape, targetShape, space.shapes, calm);
    const { triangles, textureCoordinates } = space.grids.mesh;
    this.#pool = new RenderPool({
      mesh: { triangles, textureCoordinates },
      levels: this.#texture.levels.map(({ size, data }) => ({ size, data: shared(data) })),
    });
  }

  async swap(patch: RgbPatch, face: TargetFace): Promise<RgbPatch> {
    const begun = performance.now();
    const { grids, shapes } = this.#space;
    const from = face.points.slice(0, meshPointCount * 3);
    flattenFace(patch, from, grids.coarse, this.#flat);
    const now = this.#remember(faceLight(this.#flat, grids.zones, coarseSize), face.isNew);
    const pose = poseOf(from, shapes);
    const to = from.slice();
    for (let at = 0; at < to.length; at += 3) {
      const moved = turn(pose, ...(this.#shift.subarray(at, at + 3) as unknown as [number, number, number]));
      for (const axis of [0, 1, 2] as const) to[at + axis] = (to[at + axis] as number) + moved[axis];
    }
    const drawing = {
      from,
      to,
      views: facing(to, grids.mesh.triangles).map((cosine) => smoothStep(cosine, 0.2, 0.55)),
      light: this.#lightAtPoints(now.light),
      cover: this.#cover(now.hidden),
      coverSize: coarseSize,
      gain: gainAtPoints(now.eyeGains),
      level: Math.max(0, Math.log2((fineSize * eyeShare) / eyeDistanceOf(from))),
      isGrey: this.#texture.isGrey,
      contrast: Math.min(
        contrastRange.most,
        Math.max(contrastRange.least, (contrastShare * now.contrast) / this.#texture.contrast),
      ),
      grain: grainShare,
    };
    this.times.warp_ms += performance.now() - begun;
    const { data, width, height } = patch;
    const answer = await this.#pool.draw({ data, width, height, drawing });
    this.times.blend_ms += answer.ms;
    return { ...patch, data: answer.data };
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  /** How much brighter the source's lids are in the target's light than the target's own. */
  #eyeGains(low: Float32Array): Float32Array {
    const features = this.#texture.levels.find(({ size }) => size === coarseSize)?.data ?? new Float32Array();
    return Float32Array.from(this.#space.grids.zones.lids, (texels) => {
      let [drawn, own] = [1, 1];
      for (const texel of texels) {
        const at = texel * 3 + 1;
        drawn += (low[at] as number) * (features[at] as number);
        own += this.#flat[at] as number;
      }
      return Math.min(eyeGainRange.most, Math.max(eyeGainRange.least, drawn / own));
    });
  }

  #lightAtPoints(light: Float32Array): Float32Array {
    const { textureCoordinates } = this.#space.grids.mesh;
    const out = new Float32Array(meshPointCount * 3);
    for (let point = 0; point < meshPointCount; point += 1) {
      const texel = (axis: number): number => {
        const part = textureCoordinates[point * 2 + axis] as number;
        return Math.min(coarseSize - 1, Math.max(0, Math.floor(part * coarseSize)));
      };
      const at = (texel(1) * coarseSize + texel(0)) * 3;
      out.set(light.subarray(at, at + 3), point * 3);
    }
    return out;
  }

  #cover(hidden: Float32Array): Float32Array {
    const { zones } = this.#space.grids;
    const { cover } = this.#texture;
    return zones.cover.map(
      (inside, texel) => inside * (cover[texel] as number) * (1 - (hidden[texel] as number)),
    );
  }

  /** The light and the obstacles of this frame and, less and less, those before: neither may flicker. */
  #remember(light: FaceLight, isNew: boolean): Remembered {
    const hidden = reachedFromRim(light.unlike, this.#space.grids.zones, coarseSize, leastObstacle);
    const eyeGains = this.#eyeGains(light.low);
    const before = isNew ? undefined : this.#before;
    if (before === undefined) {
      this.#before = { light: light.low, hidden, contrast: light.contrast, eyeGains };
      return this.#before;
    }
    mix(before.light, light.low, lightMemory);
    mix(before.hidden, hidden, obstacleMemory);
    mix(before.eyeGains, eyeGains, eyeMemory);
    before.contrast = before.contrast * 0.95 + light.contrast * 0.05;
    return before;
  }
}

function gainAtPoints(eyeGains: Float32Array): Float32Array {
  const gain = new Float32Array(meshPointCount).fill(1);
  for (const point of leftLids) gain[point] = eyeGains[0] as number;
  for (const point of rightLids) gain[point] = eyeGains[1] as number;
  return gain;
}

function mix(kept: Float32Array, now: Float32Array, memory: number): void {
  for (let at = 0; at < kept.length; at += 1) {
    kept[at] = (kept[at] as number) * memory + (now[at] as number) * (1 - memory);
  }
}

/** The distance of the eyes' outer corners, however the head is turned. */
function eyeDistanceOf(points: Float32Array): number {
  const [left, right] = [33 * 3, 263 * 3];
  return Math.max(
    4,
    Math.hypot(
      (points[left] as number) - (points[right] as number),
      (points[left + 1] as number) - (points[right + 1] as number),
      (points[left + 2] as number) - (points[right + 2] as number),
    ),
  );
}
