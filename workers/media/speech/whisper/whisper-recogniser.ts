import {
  AutoProcessor,
  env,
  LogitsProcessorList,
  type Tensor,
  WhisperForConditionalGeneration,
} from '@huggingface/transformers';
import type { HeardWords, Recogniser } from '../recogniser.ts';
import { samplesPerSecond } from '../sound-windows.ts';
import type { WhisperFiles } from './whisper-files.ts';
import { type TimedToken, type WordSplitter, whisperWords } from './whisper-words.ts';

/** A frame of what the encoder gives. */
const samplesPerFrame = 320;
/** Languages that spell a word in many tokens included; a model that says more repeats itself. */
const mostTokensPerSecond = 14;
const spareTokens = 8;
/** A word or two is too little to tell a language by: such a stretch counts for itself alone. */
const tellingSamples = 3 * samplesPerSecond;
/** One core each, as with the service's own models: other tasks run beside. */
const sessionOptions = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 } as const;

type Processor = ((samples: Float32Array) => Promise<{ readonly input_features: Tensor }>) & {
  readonly tokenizer: WordSplitter;
};

/** What the library's types leave out of Whisper's generation settings. */
type GenerationSettings = {
  readonly is_multilingual?: boolean;
  readonly decoder_start_token_id: number;
  /** From `<|de|>` to the token that says so. */
  readonly lang_to_id?: Readonly<Record<string, number>>;
  readonly eos_token_id: number | readonly number[];
};

type Generated = { readonly sequences: Tensor; readonly token_timestamps: Tensor };
/** The library hands each step's tokens so far and logits to such a function, and goes on with what it returns. */
type StepWatcher = (tokens: bigint[][], logits: Tensor) => Tensor;

/** An operator's Whisper model, run from its files alone: nothing is ever fetched. */
export class WhisperRecogniser implements Recogniser {
  readonly #model: WhisperForConditionalGeneration;
  readonly #settings: GenerationSettings;
  readonly #processor: Processor;
  /** ISO 639-1; given by the operator or told by the first long stretch. */
  #language: string | null;

  private constructor(model: WhisperForConditionalGeneration, processor: Processor, language: string | null) {
    this.#model = model;
    this.#settings = model.generation_config as unknown as GenerationSettings;
    this.#processor = processor;
    this.#language = this.#settings.is_multilingual === true ? language : 'en';
  }

  /** Loads the model; `language` null: it tells the language itself. */
  static async open(files: WhisperFiles, language: string | null): Promise<WhisperRecogniser> {
    env.localModelPath = files.modelsFolder;
    env.allowRemoteModels = false;
    env.useFSCache = false;
    const model = (await WhisperForConditionalGeneration.from_pretrained(files.folder, {
      local_files_only: true,
      device: 'cpu',
      dtype: { encoder_model: files.encoder, decoder_model_merged: files.decoder },
      session_options: sessionOptions,
    })) as WhisperForConditionalGeneration;
    const processor = await AutoProcessor.from_pretrained(files.folder, { local_files_only: true });
    return new WhisperRecogniser(model, processor as unknown as Processor, language);
  }

  async hear(samples: Float32Array): Promise<HeardWords> {
    const { input_features: features } = await this.#processor(samples);
    const language = this.#language ?? (await this.#tellLanguage(features));
    if (samples.length >= tellingSamples) this.#language = language;
    const tokens = await this.#transcribe(features, samples.length, language);
    const durationMs = (samples.length / samplesPerSecond) * 1000;
    return {
      language,
      words: whisperWords(tokens, { splitter: this.#processor.tokenizer, language, durationMs }),
    };
  }

  /** The likeliest language of a stretch, by the token that the model would begin its transcript with. */
  async #tellLanguage(features: Tensor): Promise<string> {
    const languages = Object.entries(this.#settings.lang_to_id ?? {});
    let best = { language: 'en', logit: Number.NEGATIVE_INFINITY };
    const watch: StepWatcher = (_, logits) => {
      for (const [mark, token] of languages) {
        const logit = Number(logits.data[token]);
        if (logit > best.logit) best = { language: mark.replace(/[<|>]/g, ''), logit };
      }
      return logits;
    };
    await this.#generate(features, watch, {
      decoder_input_ids: [this.#settings.decoder_start_token_id],
      max_new_tokens: 1,
    });
    return best.language;
  }

  async #transcribe(features: Tensor, sampleCount: number, language: string): Promise<readonly TimedToken[]> {
    const logProbabilities: number[] = [];
    let logits: Float32Array | undefined;
    // Which token a step's logits led to is told by the next step; the last one, the end, needs no confidence.
    const watch: StepWatcher = (tokens, next) => {
      if (logits !== undefined) logProbabilities.push(logProbability(logits, Number(tokens[0]?.at(-1))));
      logits = Float32Array.from(next.data as Float32Array);
      return next;
    };
    const seconds = sampleCount / samplesPerSecond;
    const generated = (await this.#generate(features, watch, {
      ...(this.#settings.is_multilingual === true ? { language, task: 'transcribe' } : {}),
      return_token_timestamps: true,
      num_frames: Math.ceil(sampleCount / samplesPerFrame),
      max_new_tokens: Math.ceil(seconds * mostTokensPerSecond) + spareTokens,
    })) as Generated;
    const sequence = (generated.sequences.tolist() as bigint[][])[0]?.map(Number) ?? [];
    const startsS = (generated.token_timestamps.tolist() as number[][])[0] ?? [];
    // The prompt's tokens and the last one have no probability of their own.
    const prompt = sequence.length - logProbabilities.length - 1;
    return logProbabilities.map((log, index) => ({
      token: sequence[prompt + index] ?? 0,
      startMs: (startsS[prompt + index] ?? seconds) * 1000,
      logProbability: log,
    }));
  }

  #generate(
    features: Tensor,
    watch: StepWatcher,
    options: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    const watchers = new LogitsProcessorList();
    watchers.push(watch as unknown as Parameters<LogitsProcessorList['push']>[0]);
    const order = { inputs: features, logits_processor: watchers, ...options };
    return this.#model.generate(order as Parameters<WhisperForConditionalGeneration['generate']>[0]);
  }
}

function logProbability(logits: Float32Array, token: number): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (const logit of logits) if (logit > highest) highest = logit;
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - highest);
  return (logits[token] ?? highest) - highest - Math.log(sum);
}
