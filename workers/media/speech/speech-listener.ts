import type { ModelStore } from '../../models/model-store.ts';
import { LoudnessMeter } from './loudness-meter.ts';
import type { Recogniser } from './recogniser.ts';
import { withoutLoops } from './repeated-words.ts';
import { levelDb, samplesPerWindow, windowMs } from './sound-windows.ts';
import { SpeechChunker, type WindowRange } from './speech-chunker.ts';
import type { TimedWord } from './timed-words.ts';
import { type Span, utterances } from './utterances.ts';
import { VoiceActivity } from './voice-activity.ts';
import { snapWordEdges } from './word-edges.ts';

/** What was heard in a sound. */
export type HeardSound = {
  /** Phrases of speech, bounded by pauses. */
  readonly utterances: readonly Span[];
  readonly words: readonly TimedWord[];
  /** BCP 47: what most words were taken for; `und` (undetermined) where there are none. */
  readonly language: string;
  /** LUFS each 100 ms. */
  readonly loudness: readonly number[];
};

/** Voice activity is noticed up to a quarter of a second after a soft beginning: 256 ms. */
const leadWindows = 8;
/** The model hears the last word better with a moment of quiet after it: 96 ms. */
const tailWindows = 3;

/**
 * Listens to a sound window by window: speech or not, words with their times, loudness. Holds no more of the
 * sound than the stretch that is being spoken, at most some 30 seconds.
 */
export class SpeechListener {
  readonly #voice: VoiceActivity;
  readonly #recogniser: Recogniser;
  readonly #chunker = new SpeechChunker();
  readonly #meter = new LoudnessMeter();
  /** The last windows; the first of them is window `#firstKept` of the sound. */
  #kept: Float32Array[] = [];
  #firstKept = 0;
  readonly #probabilities: number[] = [];
  readonly #levels: number[] = [];
  readonly #words: TimedWord[] = [];
  readonly #wordsByLanguage = new Map<string, number>();
  /** Where the stretch before ended. */
  #transcribedTo = -1;

  private constructor(voice: VoiceActivity, recogniser: Recogniser) {
    this.#voice = voice;
    this.#recogniser = recogniser;
  }

  /** Loads the model of voice activity; `recogniser` then hears what is spoken. Throws `ModelUnusable`. */
  static async open(models: ModelStore, recogniser: Recogniser): Promise<SpeechListener> {
    return new SpeechListener(await VoiceActivity.open(models), recogniser);
  }

  /** Hears the next 512 samples. The array must not change afterwards. */
  async push(window: Float32Array): Promise<void> {
    this.#kept.push(window);
    this.#meter.push(window);
    this.#levels.push(levelDb(window));
    const probability = await this.#voice.next(window);
    this.#probabilities.push(probability);
    for (const range of this.#chunker.push(probability)) await this.#transcribe(range);
    this.#forget();
  }

  /** The sound is over. */
  async finish(): Promise<HeardSound> {
    for (const range of this.#chunker.finish()) await this.#transcribe(range);
    return {
      utterances: utterances({
        probabilities: Float32Array.from(this.#probabilities),
        levels: Float32Array.from(this.#levels),
      }),
      words: this.#words,
      language: [...this.#wordsByLanguage].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? 'und',
      loudness: this.#meter.finish(),
    };
  }

  async #transcribe(range: WindowRange): Promise<void> {
    // The model ends every stretch with a full stop, also one that was parted in the middle of a breath.
    if (range.start === this.#transcribedTo) this.#dropFullStop();
    const first = Math.max(this.#firstKept, this.#transcribedTo, range.start - leadWindows);
    const end = Math.min(this.#firstKept + this.#kept.length, range.end + tailWindows);
    this.#transcribedTo = range.end;
    const samples = new Float32Array((end - first) * samplesPerWindow);
    for (const [index, window] of this.#kept
      .slice(first - this.#firstKept, end - this.#firstKept)
      .entries()) {
      samples.set(window, index * samplesPerWindow);
    }
    const heard = await this.#recogniser.hear(samples);
    const words = withoutLoops(heard.words);
    const known = this.#wordsByLanguage.get(heard.language) ?? 0;
    if (words.length > 0) this.#wordsByLanguage.set(heard.language, known + words.length);
    const startMs = first * windowMs;
    for (const word of snapWordEdges(words, samples)) {
      this.#words.push({ ...word, startMs: word.startMs + startMs, endMs: word.endMs + startMs });
    }
  }

  #dropFullStop(): void {
    const last = this.#words.at(-1);
    if (last !== undefined)
      this.#words[this.#words.length - 1] = { ...last, text: last.text.replace(/\.$/, '') };
  }

  #forget(): void {
    const unneeded = this.#chunker.firstNeeded - leadWindows - this.#firstKept;
    // Dropping a window at a time would move the rest of the list each time.
    if (unneeded < 64) return;
    this.#kept = this.#kept.slice(unneeded);
    this.#firstKept += unneeded;
  }
}
