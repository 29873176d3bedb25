import { type InferenceSession, Tensor } from 'onnxruntime-node';
import type { ModelStore } from '../../models/model-store.ts';
import { floatsOf, openSession } from '../../models/onnx-session.ts';
import { samplesPerSecond, samplesPerWindow } from './sound-windows.ts';

const contextSamples = 64;
const stateShape = [2, 1, 128];
const rate = new Tensor('int64', BigInt64Array.of(BigInt(samplesPerSecond)), []);

/** Silero VAD over one sound, window by window: it remembers what came before. */
export class VoiceActivity {
  readonly #session: InferenceSession;
  /** The last 64 samples of the window before, then the window. */
  readonly #input = new Float32Array(contextSamples + samplesPerWindow);
  #state = new Tensor('float32', new Float32Array(2 * 128), stateShape);

  private constructor(session: InferenceSession) {
    this.#session = session;
  }

  /** Loads the model. Throws `ModelUnusable`. */
  static async open(models: ModelStore): Promise<VoiceActivity> {
    return new VoiceActivity(await openSession(models, 'silero_vad_v5.onnx', 'fixed size'));
  }

  /** How likely somebody speaks in the next window (512 samples, -1 to 1): 0 to 1. Some 0.2 ms. */
  async next(window: Float32Array): Promise<number> {
    this.#input.copyWithin(0, samplesPerWindow);
    this.#input.set(window, contextSamples);
    const answer = await this.#session.run({
      input: new Tensor('float32', this.#input, [1, this.#input.length]),
      state: this.#state,
      sr: rate,
    });
    this.#state = new Tensor('float32', floatsOf(answer, 'stateN'), stateShape);
    return floatsOf(answer, 'output')[0] ?? 0;
  }
}
