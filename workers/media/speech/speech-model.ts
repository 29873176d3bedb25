import { type InferenceSession, Tensor } from 'onnxruntime-node';
import type { ModelStore } from '../../models/model-store.ts';
import { floatsOf, openSession } from '../../models/onnx-session.ts';
import { samplesPerSecond } from './sound-windows.ts';
import { endToken, parseVocabulary, startToken, type TokenVocabulary } from './token-vocabulary.ts';

/** What the model heard in a stretch of sound. */
export type HeardTokens = {
  readonly tokens: readonly number[];
  /** How sure it was of each, as a natural logarithm: 0 and below. */
  readonly logProbabilities: readonly number[];
  /** For each token and then the end: where it listened, a row of `frames` for each alignment head. */
  readonly attentions: readonly Float32Array[];
  /** Feature frames of the stretch, evenly spread over it: 41.6 a second. */
  readonly frames: number;
};

const layers = 6;
const heads = 8;
const headSize = 36;
/** The heads (layer * 8 + head) whose attention moves along with the speech. */
const alignmentHeads = [46, 39, 44, 41, 29, 47, 31, 33];
export const alignmentHeadCount = alignmentHeads.length;
/** Nobody speaks faster; a model that says more repeats itself. */
const mostTokensPerSecond = 6.5;
const spareTokens = 4;

/**
 * Moonshine tiny (English): a stretch of 16 kHz sound to tokens. Greedy: what it is surest of at each step.
 * Takes 0.02 to 0.06 of the sound's time on one core.
 */
export class SpeechModel {
  readonly vocabulary: TokenVocabulary;
  readonly #encoder: InferenceSession;
  readonly #decoder: InferenceSession;

  private constructor(vocabulary: TokenVocabulary, encoder: InferenceSession, decoder: InferenceSession) {
    this.vocabulary = vocabulary;
    this.#encoder = encoder;
    this.#decoder = decoder;
  }

  /** Loads the model. Throws `ModelUnusable`. */
  static async open(models: ModelStore): Promise<SpeechModel> {
    const vocabulary = parseVocabulary(await models.read('moonshine_tiny_en_tokenizer.bin'));
    const encoder = await openSession(models, 'moonshine_tiny_en_encoder.onnx', 'varying size');
    const decoder = await openSession(models, 'moonshine_tiny_en_decoder_attn.onnx', 'varying size');
    return new SpeechModel(vocabulary, encoder, decoder);
  }

  /** Hears a stretch of at least 0.1 and at most some 30 seconds; samples from -1 to 1. */
  async hear(samples: Float32Array): Promise<HeardTokens> {
    const mask = new Tensor('int64', new BigInt64Array(samples.length).fill(1n), [1, samples.length]);
    const features = (
      await this.#encoder.run({
        input_values: new Tensor('float32', samples, [1, samples.length]),
        attention_mask: mask,
      })
    )['last_hidden_state'] as Tensor;
    const frames = features.dims[1] ?? 0;
    const heard = {
      tokens: [] as number[],
      logProbabilities: [] as number[],
      attentions: [] as Float32Array[],
    };
    const fixed = { encoder_attention_mask: mask, encoder_hidden_states: features };
    const most = Math.ceil((samples.length / samplesPerSecond) * mostTokensPerSecond) + spareTokens;
    let past = emptyPast();
    let token = startToken;
    for (let step = 0; step < most; step += 1) {
      const answer = await this.#decoder.run({
        ...fixed,
        ...past,
        input_ids: new Tensor('int64', BigInt64Array.of(BigInt(token)), [1, 1]),
        use_cache_branch: new Tensor('bool', [step > 0], [1]),
      });
      heard.attentions.push(alignmentRows(floatsOf(answer, 'cross_attentions'), frames));
      const best = surest(floatsOf(answer, 'logits'));
      token = best.token;
      if (token === endToken) break;
      heard.tokens.push(token);
      heard.logProbabilities.push(best.logProbability);
      past = nextPast(past, answer, step > 0);
    }
    return { ...heard, frames };
  }
}

type Past = Readonly<Record<string, Tensor>>;

function emptyPast(): Past {
  const names = Array.from({ length: layers }, (_, layer) => layer).flatMap((layer) =>
    ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].map(
      (part) => `past_key_values.${layer}.${part}`,
    ),
  );
  const empty = new Tensor('float32', new Float32Array(0), [1, heads, 0, headSize]);
  return Object.fromEntries(names.map((name) => [name, empty]));
}

/** What the encoder gave stays as the first step has made it; the decoder's own part grows by one token. */
function nextPast(past: Past, answer: Readonly<Record<string, Tensor>>, keepsEncoder: boolean): Past {
  return Object.fromEntries(
    Object.entries(past).map(([name, before]) => {
      if (keepsEncoder && name.includes('.encoder.')) return [name, before];
      return [name, answer[name.replace('past_key_values', 'present')] as Tensor];
    }),
  );
}

/** The rows of the alignment heads out of [1, 48, 1, frames]. */
function alignmentRows(attentions: Float32Array, frames: number): Float32Array {
  const rows = new Float32Array(alignmentHeads.length * frames);
  for (const [row, head] of alignmentHeads.entries()) {
    rows.set(attentions.subarray(head * frames, (head + 1) * frames), row * frames);
  }
  return rows;
}

function surest(logits: Float32Array): { token: number; logProbability: number } {
  let token = 0;
  for (let each = 1; each < logits.length; each += 1) {
    if ((logits[each] as number) > (logits[token] as number)) token = each;
  }
  const highest = logits[token] as number;
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - highest);
  return { token, logProbability: -Math.log(sum) };
}
