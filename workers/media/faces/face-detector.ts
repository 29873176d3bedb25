import { type InferenceSession, Tensor } from 'onnxruntime-node';
import type { ModelStore } from '../../models/model-store.ts';
import { floatsOf, openSession } from '../../models/onnx-session.ts';
import {
  type Anchors,
  decodeDetections,
  type FaceDetection,
  fullRangeAnchors,
  mergeSameFaces,
  shortRangeAnchors,
} from './face-detection.ts';
import type { RgbFrame } from './rgb-frame.ts';
import { drawRegion, type SquareRegion } from './square-region.ts';

/** A detection below this is more often a pattern than a face. */
const leastScore = 0.5;
const signedCoding = { scale: 1 / 127.5, offset: -1 };

/** One detection model with its input: a square of RGB values from -1 to 1, [1, size, size, 3]. */
class DetectionModel {
  readonly #session: InferenceSession;
  readonly #inputSize: number;
  readonly #anchors: Anchors;
  readonly #boxesName: string;
  readonly #logitsName: string;
  readonly #input: Float32Array;

  constructor(
    session: InferenceSession,
    model: { inputSize: number; anchors: Anchors; boxesName: string; logitsName: string },
  ) {
    this.#session = session;
    this.#inputSize = model.inputSize;
    this.#anchors = model.anchors;
    this.#boxesName = model.boxesName;
    this.#logitsName = model.logitsName;
    this.#input = new Float32Array(model.inputSize ** 2 * 3);
  }

  async find(frame: RgbFrame, region: SquareRegion): Promise<readonly FaceDetection[]> {
    const size = this.#inputSize;
    drawRegion(frame, region, size, signedCoding, this.#input);
    const [inputName = 'input'] = this.#session.inputNames;
    const answer = await this.#session.run({
      [inputName]: new Tensor('float32', this.#input, [1, size, size, 3]),
    });
    const boxes = floatsOf(answer, this.#boxesName);
    const logits = floatsOf(answer, this.#logitsName);
    return decodeDetections({ boxes, logits, anchors: this.#anchors, inputSize: size }, region, leastScore);
  }
}

/** Finds faces with two models: one that sees small faces, and one that sees what fills the picture. */
export class FaceDetector {
  readonly #fullRange: DetectionModel;
  readonly #shortRange: DetectionModel;

  private constructor(fullRange: DetectionModel, shortRange: DetectionModel) {
    this.#fullRange = fullRange;
    this.#shortRange = shortRange;
  }

  /** Loads both models. Throws `ModelUnusable`. */
  static async open(models: ModelStore): Promise<FaceDetector> {
    const [fullRange, shortRange] = await Promise.all([
      openSession(models, 'face_detection_full_range.onnx', 'fixed size'),
      openSession(models, 'face_detection_short_range.onnx', 'fixed size'),
    ]);
    return new FaceDetector(
      new DetectionModel(fullRange, {
        inputSize: 192,
        anchors: fullRangeAnchors,
        boxesName: 'reshaped_regressor_face_4',
        logitsName: 'reshaped_classifier_face_4',
      }),
      new DetectionModel(shortRange, {
        inputSize: 128,
        anchors: shortRangeAnchors,
        boxesName: 'regressors',
        logitsName: 'classificators',
      }),
    );
  }

  /** The faces in a square of the frame, the surest first, in pixels of the frame. */
  async find(frame: RgbFrame, region: SquareRegion): Promise<readonly FaceDetection[]> {
    const found = await this.#fullRange.find(frame, region);
    return found.length > 0 ? found : this.#shortRange.find(frame, region);
  }

  /**
   * The faces in overlapping squares of 0.6 of the frame's shorter side, the surest first: finds faces that are
   * too small for a look at the whole frame, at some 8 ms a square.
   */
  async findInTiles(frame: RgbFrame): Promise<readonly FaceDetection[]> {
    const found: FaceDetection[] = [];
    for (const tile of tiles(frame)) found.push(...(await this.#fullRange.find(frame, tile)));
    return mergeSameFaces(found);
  }
}

/** Tiles overlap by this part of their side, so that no small face is cut by all that hold it. */
const tileOverlap = 0.25;

/** A very long frame is covered by larger tiles rather than by more. */
const mostTilesAlong = 6;

/** Squares that cover the frame, each 0.6 of its shorter side. Pure. */
export function tiles(frame: Pick<RgbFrame, 'width' | 'height'>): readonly SquareRegion[] {
  const side = Math.max(
    Math.min(frame.width, frame.height) * 0.6,
    Math.max(frame.width, frame.height) / mostTilesAlong,
  );
  const centres = (length: number): number[] => {
    const count = Math.max(1, Math.ceil((length - side * tileOverlap) / (side * (1 - tileOverlap))));
    if (count === 1) return [length / 2];
    const step = (length - side) / (count - 1);
    return Array.from({ length: count }, (_, index) => side / 2 + index * step);
  };
  return centres(frame.height).flatMap((y) =>
    centres(frame.width).map((x) => ({ centre: { x, y }, side, angle: 0 })),
  );
}
