import { type InferenceSession, Tensor } from 'onnxruntime-node';
import type { ModelStore } from '../../models/model-store.ts';
import { floatsOf, openSession } from '../../models/onnx-session.ts';
import { parseWordPieces, tokenNumbers, type WordPieces } from './word-pieces.ts';

/** Values of a sentence's vector. */
const dimensions = 384;
/** The model was trained on so many tokens; what comes after says little new. */
const mostTokens = 128;
const sentencesPerRun = 32;

/** all-MiniLM-L6-v2: sentences to vectors of length 1 that lie close together when they mean the same. */
export class SentenceEmbedder {
  readonly #session: InferenceSession;
  readonly #pieces: WordPieces;

  private constructor(session: InferenceSession, pieces: WordPieces) {
    this.#session = session;
    this.#pieces = pieces;
  }

  /** Loads the model. Throws `ModelUnusable`. */
  static async open(models: ModelStore): Promise<SentenceEmbedder> {
    const pieces = await models.read('all-minilm-l6-v2-tokenizer.json');
    const session = await openSession(models, 'all-minilm-l6-v2-int8.onnx', 'varying size');
    return new SentenceEmbedder(session, parseWordPieces(pieces.toString('utf8')));
  }

  /** A vector [384] for each sentence, in their order. Takes 1 to 3 ms a sentence. */
  async embed(sentences: readonly string[]): Promise<readonly Float32Array[]> {
    const tokens = sentences.map((sentence) => tokenNumbers(sentence, this.#pieces, mostTokens));
    const vectors = new Array<Float32Array>(sentences.length);
    // Sentences of like length together: the shorter ones of a run are filled up to its longest.
    const order = tokens.map((_, index) => index).sort((a, b) => lengthOf(tokens, a) - lengthOf(tokens, b));
    for (let start = 0; start < order.length; start += sentencesPerRun) {
      const run = order.slice(start, start + sentencesPerRun);
      const values = await this.#run(run.map((index) => tokens[index] ?? []));
      for (const [row, index] of run.entries()) {
        vectors[index] = values.slice(row * dimensions, (row + 1) * dimensions);
      }
    }
    return vectors;
  }

  async #run(rows: readonly (readonly number[])[]): Promise<Float32Array> {
    const width = Math.max(...rows.map((row) => row.length));
    const numbers = new BigInt64Array(rows.length * width);
    const mask = new BigInt64Array(rows.length * width);
    for (const [index, row] of rows.entries()) {
      numbers.set(row.map(BigInt), index * width);
      mask.fill(1n, index * width, index * width + row.length);
    }
    const shape = [rows.length, width];
    const answer = await this.#session.run({
      input_ids: new Tensor('int64', numbers, shape),
      attention_mask: new Tensor('int64', mask, shape),
    });
    return floatsOf(answer, 'embedding');
  }
}

function lengthOf(tokens: readonly (readonly number[])[], index: number): number {
  return tokens[index]?.length ?? 0;
}

/** How close two sentences' vectors are, -1 to 1. Pure. */
export function similarity(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  // Compared by the million on long sources: an iterator would take ten times as long.
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
