import { type InferenceSession, Tensor } from 'onnxruntime-node';
import type { ModelStore } from '../../models/model-store.ts';
import { floatsOf, openSession } from '../../models/onnx-session.ts';
import { decodeMesh, type FaceMesh, meshInputSize } from './face-mesh.ts';
import type { RgbFrame } from './rgb-frame.ts';
import { drawRegion, type SquareRegion } from './square-region.ts';

const unitCoding = { scale: 1 / 255, offset: 0 };

/** The model that finds the 478 points of a face: input [1, 192, 192, 3], RGB values from 0 to 1. */
export class MeshModel {
  readonly #session: InferenceSession;
  readonly #input = new Float32Array(meshInputSize ** 2 * 3);

  private constructor(session: InferenceSession) {
    this.#session = session;
  }

  /** Loads the model. Throws `ModelUnusable`. */
  static async open(models: ModelStore): Promise<MeshModel> {
    return new MeshModel(await openSession(models, 'face_landmark_attention_478.onnx', 'fixed size'));
  }

  /** The mesh of the face that is expected in `region`; low `presence` means that there is none. Some 5 ms. */
  async find(frame: RgbFrame, region: SquareRegion): Promise<FaceMesh> {
    drawRegion(frame, region, meshInputSize, unitCoding, this.#input);
    const [inputName = 'input_1'] = this.#session.inputNames;
    const answer = await this.#session.run({
      [inputName]: new Tensor('float32', this.#input, [1, meshInputSize, meshInputSize, 3]),
    });
    const raw = {
      mesh: floatsOf(answer, 'output_mesh_identity'),
      lips: floatsOf(answer, 'output_lips'),
      leftEye: floatsOf(answer, 'output_left_eye'),
      rightEye: floatsOf(answer, 'output_right_eye'),
      leftIris: floatsOf(answer, 'output_left_iris'),
      rightIris: floatsOf(answer, 'output_right_iris'),
      presenceLogit: floatsOf(answer, 'conv_faceflag')[0] ?? Number.NEGATIVE_INFINITY,
    };
    return decodeMesh(raw, region);
  }
}
