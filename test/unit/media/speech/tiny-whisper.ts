import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { onnxModel } from '#test/unit/swap/onnx-writer.ts';

/**
 * A model in the form of a Whisper export (files, inputs, outputs, tokenizer) that knows one German sentence by heart
 * and says it whatever it is given: each token leads to the next, with a certainty and a place in the sound that are
 * written into it. So it shows that files are found, read and driven rightly, not how well Whisper hears.
 */

const pieces = [' Gu', 'ten', ' Tag', ',', ' zu', 'sammen', '.'] as const;
/** How sure the model is of each piece. */
export const pieceProbability = 0.8;
/** Where each piece begins, in seconds. */
export const pieceStarts = [0.2, 0.4, 0.6, 0.9, 1, 1.2, 1.5] as const;

const end = pieces.length;
const marks = [
  'endoftext',
  'startoftranscript',
  'en',
  'de',
  'translate',
  'transcribe',
  'notimestamps',
] as const;
const markOf = (name: (typeof marks)[number]): number => end + marks.indexOf(name);
const vocabulary = end + marks.length;
const encoderFrames = 1500;
const size = 4;
const framesPerSecond = 50;

/** What the model answers after each token: the sentence, after the prompt that German is asked for with. */
const followers = new Map<number, number>([
  [markOf('startoftranscript'), markOf('de')],
  [markOf('notimestamps'), 0],
  ...pieces.map((_, piece): [number, number] => [piece, piece + 1]),
]);

function logits(): Float32Array {
  const table = new Float32Array(vocabulary * vocabulary);
  const others = Math.log((1 - pieceProbability) / (vocabulary - 1));
  for (let token = 0; token < vocabulary; token += 1) {
    const next = followers.get(token) ?? end;
    for (let each = 0; each < vocabulary; each += 1) {
      table[token * vocabulary + each] = each === next ? Math.log(pieceProbability) : others;
    }
  }
  return table;
}

/** A piece listens from its beginning to the next one's, and a little everywhere, as every real model does. */
function attentions(): Float32Array {
  const table = Float32Array.from(
    { length: vocabulary * encoderFrames },
    (_, index) => 0.02 + 0.01 * Math.sin(index * 1.7),
  );
  for (const [piece, start] of pieceStarts.entries()) {
    const from = Math.round(start * framesPerSecond);
    const to = Math.round((pieceStarts[piece + 1] ?? start + 0.3) * framesPerSecond);
    table.fill(1, piece * encoderFrames + from, piece * encoderFrames + to);
  }
  return table;
}

function encoder(): Buffer {
  return onnxModel({
    inputs: [{ name: 'input_features', dims: [1, 80, 3000] }],
    nodes: [
      { operator: 'ReduceMean', inputs: ['input_features'], outputs: ['mean'], integers: { keepdims: 0 } },
      { operator: 'Add', inputs: ['zeros', 'mean'], outputs: ['last_hidden_state'] },
    ],
    outputs: [{ name: 'last_hidden_state', dims: [1, encoderFrames, size] }],
    initializers: [
      { name: 'zeros', dims: [1, encoderFrames, size], values: new Float32Array(encoderFrames * size) },
    ],
  });
}

function decoder(attentionsName: string): Buffer {
  return onnxModel({
    inputs: [
      { name: 'input_ids', dims: [1, null], type: 'int64' },
      { name: 'encoder_hidden_states', dims: [1, encoderFrames, size] },
    ],
    nodes: [
      // The sound counts for nothing, but has to be read: its mean times zero.
      {
        ...{ operator: 'ReduceMean', inputs: ['encoder_hidden_states'], outputs: ['mean'] },
        integers: { keepdims: 0 },
      },
      { operator: 'Mul', inputs: ['mean', 'zero'], outputs: ['nothing'] },
      { operator: 'Gather', inputs: ['followers', 'input_ids'], outputs: ['said'] },
      { operator: 'Add', inputs: ['said', 'nothing'], outputs: ['logits'] },
      { operator: 'Gather', inputs: ['places', 'input_ids'], outputs: ['listened'] },
      { operator: 'Unsqueeze', inputs: ['listened', 'headAxis'], outputs: [attentionsName] },
    ],
    outputs: [
      { name: 'logits', dims: [1, null, vocabulary] },
      { name: attentionsName, dims: [1, 1, null, encoderFrames] },
    ],
    initializers: [
      { name: 'zero', dims: [], values: Float32Array.of(0) },
      { name: 'headAxis', dims: [1], values: BigInt64Array.of(1n) },
      { name: 'followers', dims: [vocabulary, vocabulary], values: logits() },
      { name: 'places', dims: [vocabulary, encoderFrames], values: attentions() },
    ],
  });
}

const settings = {
  'config.json': {
    ...{
      model_type: 'whisper',
      architectures: ['WhisperForConditionalGeneration'],
      is_encoder_decoder: true,
    },
    ...{ d_model: size, decoder_layers: 1, decoder_attention_heads: 1, encoder_layers: 1 },
    ...{ encoder_attention_heads: 1, num_mel_bins: 80, max_source_positions: encoderFrames },
    ...{ max_target_positions: 448, median_filter_width: 7, vocab_size: vocabulary },
    ...{ decoder_start_token_id: markOf('startoftranscript'), eos_token_id: end, pad_token_id: end },
  },
  'generation_config.json': {
    alignment_heads: [[0, 0]],
    ...{ decoder_start_token_id: markOf('startoftranscript'), eos_token_id: end, pad_token_id: end },
    ...{ is_multilingual: true, no_timestamps_token_id: markOf('notimestamps'), max_length: 448 },
    lang_to_id: { '<|en|>': markOf('en'), '<|de|>': markOf('de') },
    task_to_id: { translate: markOf('translate'), transcribe: markOf('transcribe') },
  },
  'preprocessor_config.json': {
    ...{ feature_extractor_type: 'WhisperFeatureExtractor', processor_class: 'WhisperProcessor' },
    ...{ chunk_length: 30, feature_size: 80, hop_length: 160, n_fft: 400, n_samples: 480_000 },
    ...{ nb_max_frames: 3000, sampling_rate: 16_000, padding_value: 0 },
  },
  'tokenizer_config.json': { tokenizer_class: 'WhisperTokenizer' },
  'tokenizer.json': {
    version: '1.0',
    ...{ truncation: null, padding: null, normalizer: null, post_processor: null },
    added_tokens: marks.map((name, index) => ({
      ...{ id: end + index, content: `<|${name}|>`, special: true, single_word: false },
      ...{ lstrip: false, rstrip: false, normalized: false },
    })),
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      ...{ type: 'BPE', dropout: null, unk_token: null, fuse_unk: false, merges: [] },
      vocab: Object.fromEntries(pieces.map((piece, token) => [piece.replace(' ', 'Ġ'), token])),
    },
  },
} as const;

/** Writes the model into `folder/tiny` and lists it in `folder/MANIFEST.json`; without attentions if told so. */
export async function writeTinyWhisper(folder: string, has: { readonly attentions: boolean }): Promise<void> {
  const root = join(folder, 'tiny');
  await mkdir(join(root, 'onnx'), { recursive: true });
  for (const [file, content] of Object.entries(settings)) {
    await writeFile(join(root, file), JSON.stringify(content));
  }
  await writeFile(join(root, 'onnx/encoder_model.onnx'), encoder());
  const attentionsName = has.attentions ? 'cross_attentions.0' : 'unnamed';
  await writeFile(join(root, 'onnx/decoder_model_merged.onnx'), decoder(attentionsName));
  await listModels(folder);
}

/** A manifest of all files that are there. */
async function listModels(folder: string): Promise<void> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const entries = found
    .filter((entry) => entry.isFile() && entry.name !== 'MANIFEST.json')
    .map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      const sha256 = createHash('sha256')
        .update(await readFile(path))
        .digest('hex');
      return { file: relative(folder, path), sha256, source: 'this test', licence: 'none' };
    });
  await writeFile(join(folder, 'MANIFEST.json'), JSON.stringify(await Promise.all(entries)));
}
