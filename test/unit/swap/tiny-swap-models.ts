import { createHash } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arcFaceTemplate } from '#workers/swap/neural/aligned-face.ts';
import { type OnnxTensor, onnxModel } from './onnx-writer.ts';

const levels = [
  { stride: 8, anchors: 12_800 },
  { stride: 16, anchors: 3200 },
  { stride: 32, anchors: 800 },
] as const;

/** Where the tiny detector "sees" its face, in its 640 x 640 pixels: the template, twice as large, from (200, 160). */
export const seenFace = { left: 200, top: 160, scale: 2 } as const;

/** A detector that always answers one sure face, whatever it is shown. */
export function tinyDetector(): Buffer {
  const tensors = ['score', 'box', 'points'].flatMap((kind) =>
    levels.map(({ stride, anchors }): OnnxTensor => {
      const width = kind === 'score' ? 1 : kind === 'box' ? 4 : 10;
      const values = new Float32Array(anchors * width);
      if (stride === 16) {
        // The cell whose corner is at (304, 272): column 19, row 17 of 40; the second of its two anchors.
        const anchor = (17 * 40 + 19) * 2 + 1;
        const distances = [304 - 200, 272 - 160, 200 + 224 - 304, 160 + 224 - 272].map(
          (each) => each / stride,
        );
        const points = arcFaceTemplate.flatMap(({ x, y }) => [
          (seenFace.left + x * seenFace.scale - 304) / stride,
          (seenFace.top + y * seenFace.scale - 272) / stride,
        ]);
        values.set(kind === 'score' ? [0.9] : kind === 'box' ? distances : points, anchor * width);
      }
      return { name: `${kind}_${stride}`, dims: [anchors, width], values };
    }),
  );
  return onnxModel({
    inputs: [{ name: 'input.1', dims: [1, 3, 640, 640] }],
    // The picture counts for nothing, but has to be read: its mean times zero.
    nodes: [
      { operator: 'ReduceMean', inputs: ['input.1'], outputs: ['mean'], integers: { keepdims: 0 } },
      { operator: 'Mul', inputs: ['mean', 'zero'], outputs: ['nothing'] },
      ...tensors.map(({ name }) => ({
        operator: 'Add',
        inputs: [name, 'nothing'],
        outputs: [`out_${name}`],
      })),
    ],
    outputs: tensors.map(({ name, dims }) => ({ name: `out_${name}`, dims })),
    initializers: [...tensors, { name: 'zero', dims: [], values: Float32Array.of(0) }],
  });
}

/** An embedder whose values are the means of the picture's three colours, and zeros. */
export function tinyEmbedder(): Buffer {
  const spread = new Float32Array(3 * 512);
  for (const channel of [0, 1, 2]) spread[channel * 512 + channel] = 1;
  return onnxModel({
    inputs: [{ name: 'input.1', dims: [1, 3, 112, 112] }],
    nodes: [
      { operator: 'GlobalAveragePool', inputs: ['input.1'], outputs: ['pooled'] },
      { operator: 'Flatten', inputs: ['pooled'], outputs: ['means'], integers: { axis: 1 } },
      { operator: 'MatMul', inputs: ['means', 'spread'], outputs: ['embedding'] },
    ],
    outputs: [{ name: 'embedding', dims: [1, 512] }],
    initializers: [{ name: 'spread', dims: [3, 512], values: spread }],
  });
}

/**
 * A swapper of inswapper's contract: it paints the whole face in the colour that the first three values of `source`
 * are (half of it plus a half). Its last initializer turns the embedding: red and blue change places.
 */
export function tinySwapper(): Buffer {
  const turning = new Float32Array(512 * 512);
  for (let at = 3; at < 512; at += 1) turning[at * 512 + at] = 1;
  for (const [from, to] of [
    [0, 2],
    [1, 1],
    [2, 0],
  ] as const) {
    turning[from * 512 + to] = 1;
  }
  const first = new Float32Array(512 * 3);
  for (const channel of [0, 1, 2]) first[channel * 3 + channel] = 0.5;
  return onnxModel({
    inputs: [
      { name: 'target', dims: [1, 3, 128, 128] },
      { name: 'source', dims: [1, 512] },
    ],
    nodes: [
      { operator: 'MatMul', inputs: ['source', 'first'], outputs: ['halves'] },
      { operator: 'Add', inputs: ['halves', 'half'], outputs: ['colour'] },
      { operator: 'Reshape', inputs: ['colour', 'shape'], outputs: ['pixel'] },
      { operator: 'Mul', inputs: ['target', 'zero'], outputs: ['black'] },
      { operator: 'Add', inputs: ['black', 'pixel'], outputs: ['output'] },
    ],
    outputs: [{ name: 'output', dims: [1, 3, 128, 128] }],
    initializers: [
      { name: 'first', dims: [512, 3], values: first },
      { name: 'half', dims: [], values: Float32Array.of(0.5) },
      { name: 'zero', dims: [], values: Float32Array.of(0) },
      { name: 'shape', dims: [4], values: BigInt64Array.of(1n, 3n, 1n, 1n) },
      { name: 'emap', dims: [512, 512], values: turning },
    ],
  });
}

/** A folder as an operator makes it: the models and a manifest that lists them. */
export async function modelsFolder(models: Readonly<Record<string, Buffer>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'swap-models-'));
  const entries = Object.entries(models).map(([file, bytes]) => ({
    file,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    source: 'made by a test',
    licence: 'none needed',
  }));
  for (const [file, bytes] of Object.entries(models)) await writeFile(join(folder, file), bytes);
  await writeFile(join(folder, 'MANIFEST.json'), JSON.stringify(entries));
  return folder;
}
