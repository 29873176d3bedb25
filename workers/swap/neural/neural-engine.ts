import { type InferenceSession, Tensor } from 'onnxruntime-node';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { Point, RgbFrame } from '../../media/faces/rgb-frame.ts';
import { type ModelStore, ModelUnusable } from '../../models/model-store.ts';
import { floatsOf, openSession } from '../../models/onnx-session.ts';
import type { SwapEngine, TargetFace } from '../engine/swap-engine.ts';
import type { SourceFace } from '../image/source-face.ts';
import type { RgbPatch } from '../video/yuv-patch.ts';
import {
  type AlignedFace,
  alignFace,
  arcFaceTemplate,
  faceTemplate,
  pasteBack,
  pixelsOf,
  planes,
  restorerTemplate,
} from './aligned-face.ts';
import { lastInitializer } from './last-initializer.ts';
import { neuralModelFiles } from './neural-models.ts';
import { scrfdFaces } from './scrfd.ts';

const embeddingLength = 512;
const swapSize = 128;
const restorerSize = 512;
const faceScale = 2.1;

/**
 * The engine for an operator's own models of InsightFace's contracts: SCRFD finds the source's five points, ArcFace
 * makes its embedding, inswapper draws it into each target face, a restorer sharpens it where there is one. The
 * target's points come from the mesh that follows the face anyway.
 */
export async function openNeuralEngine(models: ModelStore, source: SourceFace): Promise<SwapEngine> {
  const swapper = await openSession(models, neuralModelFiles.swapper, 'fixed size');
  const restorer = models.has(neuralModelFiles.enhancer)
    ? await openSession(models, neuralModelFiles.enhancer, 'fixed size')
    : undefined;
  const identity = await swapIdentity(models, source.frame);
  return new NeuralEngine(swapper, restorer, identity);
}

/** What the swapper wants of a source: its embedding times the matrix in the swapper's file, of length 1. */
async function swapIdentity(models: ModelStore, frame: RgbFrame): Promise<Float32Array> {
  const detector = await openSession(models, neuralModelFiles.detector, 'fixed size');
  const [face] = (await scrfdFaces(detector, frame)).toSorted((a, b) => width(b) - width(a));
  await detector.release();
  if (face === undefined) {
    throw new MediaFailure(
      'FACE_NOT_USABLE',
      'No face was found in the face image: give a photo of one face, well lit and seen from the front.',
    );
  }
  const embedder = await openSession(models, neuralModelFiles.embedder, 'fixed size');
  const aligned = alignFace(frame, face.points, arcFaceTemplate, 112);
  const input = new Tensor('float32', planes(aligned, 127.5, 127.5), [1, 3, 112, 112]);
  const answer = await embedder.run({ [embedder.inputNames[0] ?? 'input.1']: input });
  const embedding = unit(floatsOf(answer, embedder.outputNames[0] ?? ''));
  await embedder.release();
  const { dims, values } = lastInitializer(await models.read(neuralModelFiles.swapper));
  if (dims[0] !== embeddingLength || dims[1] !== embeddingLength || embedding.length !== embeddingLength) {
    throw new ModelUnusable(
      `${neuralModelFiles.swapper} is not of the inswapper contract: its last initializer is ${dims.join(' x ')}, not 512 x 512.`,
    );
  }
  const turned = new Float32Array(embeddingLength);
  for (let row = 0; row < embeddingLength; row += 1) {
    for (let column = 0; column < embeddingLength; column += 1) {
      turned[column] =
        (turned[column] as number) +
        (embedding[row] as number) * (values[row * embeddingLength + column] as number);
    }
  }
  return unit(turned);
}

class NeuralEngine implements SwapEngine {
  readonly patchScale = faceScale;
  readonly times = { warp_ms: 0, blend_ms: 0 };
  readonly #swapper: InferenceSession;
  readonly #restorer: InferenceSession | undefined;
  readonly #identity: Float32Array;
  /** A session takes one run at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(swapper: InferenceSession, restorer: InferenceSession | undefined, identity: Float32Array) {
    this.#swapper = swapper;
    this.#restorer = restorer;
    this.#identity = identity;
  }

  async swap(patch: RgbPatch, face: TargetFace): Promise<RgbPatch> {
    const turn = this.#last.then(() => this.#draw(patch, fivePoints(face.points)));
    this.#last = turn.catch(() => undefined);
    await turn;
    return patch;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#swapper.release();
    await this.#restorer?.release();
  }

  async #draw(patch: RgbPatch, points: readonly Point[]): Promise<void> {
    let from = performance.now();
    const aligned = alignFace(patch, points, faceTemplate(swapSize), swapSize);
    const answer = await this.#swapper.run({
      target: new Tensor('float32', planes(aligned, 0, 255), [1, 3, swapSize, swapSize]),
      source: new Tensor('float32', this.#identity, [1, embeddingLength]),
    });
    const output = floatsOf(answer, this.#swapper.outputNames[0] ?? 'output');
    const swapped: AlignedFace = { ...aligned, pixels: pixelsOf(output, swapSize, 0, 255) };
    this.times.warp_ms += performance.now() - from;
    from = performance.now();
    pasteBack(patch, swapped);
    if (this.#restorer !== undefined) await restore(this.#restorer, patch, points);
    this.times.blend_ms += performance.now() - from;
  }
}

/** Draws the swapped face finer: RGB from -1 to 1, 512 x 512. */
async function restore(restorer: InferenceSession, patch: RgbPatch, points: readonly Point[]): Promise<void> {
  const aligned = alignFace(patch, points, restorerTemplate, restorerSize);
  const input = new Tensor('float32', planes(aligned, 127.5, 127.5), [1, 3, restorerSize, restorerSize]);
  const answer = await restorer.run({ [restorer.inputNames[0] ?? 'input']: input });
  const output = floatsOf(answer, restorer.outputNames[0] ?? 'output');
  pasteBack(patch, { ...aligned, pixels: pixelsOf(output, restorerSize, 127.5, 127.5) });
}

/** Eyes, nose and mouth corners of the mesh: the irises' centres lie where detectors put the eyes. */
export function fivePoints(points: Float32Array): readonly Point[] {
  return [468, 473, 1, 61, 291].map((point) => ({
    x: points[point * 3] as number,
    y: points[point * 3 + 1] as number,
  }));
}

function width({ box }: { readonly box: { readonly left: number; readonly right: number } }): number {
  return box.right - box.left;
}

function unit(values: Float32Array): Float32Array {
  const length = Math.hypot(...values) || 1;
  return values.map((value) => value / length);
}
