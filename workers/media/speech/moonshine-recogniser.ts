import type { ModelStore } from '../../models/model-store.ts';
import type { HeardWords, Recogniser } from './recogniser.ts';
import { samplesPerSecond } from './sound-windows.ts';
import { SpeechModel } from './speech-model.ts';
import { timedWords } from './timed-words.ts';

/** All that it was trained on; other languages come out as English that nobody said. */
export const moonshineLanguage = 'en';

/** Moonshine tiny, the speech model that comes with the service. */
export class MoonshineRecogniser implements Recogniser {
  readonly #model: SpeechModel;

  private constructor(model: SpeechModel) {
    this.#model = model;
  }

  /** Loads the model. Throws `ModelUnusable`. */
  static async open(models: ModelStore): Promise<MoonshineRecogniser> {
    return new MoonshineRecogniser(await SpeechModel.open(models));
  }

  async hear(samples: Float32Array): Promise<HeardWords> {
    const heard = await this.#model.hear(samples);
    const durationMs = (samples.length / samplesPerSecond) * 1000;
    return { language: moonshineLanguage, words: timedWords(heard, this.#model.vocabulary, durationMs) };
  }
}
