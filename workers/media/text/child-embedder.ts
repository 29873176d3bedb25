import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { MediaTools } from '#infra/media/media-tools.ts';
import { runMeasuringChild } from '../analysis/run-measuring-child.ts';

export type SentenceOrder = {
  /** A JSON list of sentences, in a file: a long source has more of them than arguments may have bytes. */
  readonly path: string;
  readonly wallMs: number;
};

export type EmbeddingContext = {
  readonly tools: MediaTools;
  /** The operator's own models (`MODELS_DIR`). */
  readonly modelsFolder?: string | undefined;
  /** An existing folder that belongs to this task alone. */
  readonly taskFolder: string;
  readonly signal: AbortSignal;
};

/** Loading the model takes under a second; a sentence 1 to 3 ms, on a busy machine ten times that. */
const loadingMs = 60_000;
const sentenceMs = 30;

const sentenceList = z.array(z.string());
const packed = z.object({ dimensions: z.int().min(1), base64: z.string() });
type PackedVectors = z.infer<typeof packed>;

/**
 * An embedder whose model lives in a process of its own, started for each call: the model's native code and
 * memory stay out of the worker. `embed` throws `MediaFailure`.
 */
export function childEmbedder(context: EmbeddingContext): {
  readonly embed: (sentences: readonly string[]) => Promise<readonly Float32Array[]>;
} {
  return { embed: (sentences) => embedInChild(sentences, context) };
}

async function embedInChild(
  sentences: readonly string[],
  context: EmbeddingContext,
): Promise<readonly Float32Array[]> {
  if (sentences.length === 0) return [];
  const path = join(context.taskFolder, `sentences-${randomUUID()}.json`);
  await writeFile(path, JSON.stringify(sentences));
  const order: SentenceOrder = { path, wallMs: loadingMs + sentences.length * sentenceMs };
  try {
    const answer = await runMeasuringChild({
      ...{ tools: context.tools, taskFolder: context.taskFolder, signal: context.signal },
      modelsFolder: context.modelsFolder,
      main: '../text/embed-sentences-main.ts',
      order,
      schema: packed,
      onDone: () => undefined,
    });
    return unpackVectors(answer);
  } finally {
    await rm(path, { force: true });
  }
}

/** The child's side: the sentences of an order. */
export async function readSentences(order: SentenceOrder): Promise<readonly string[]> {
  return sentenceList.parse(JSON.parse(await readFile(order.path, 'utf8')));
}

/** Vectors of equal length as text: a third more than their bytes, where JSON's numbers are five times. Pure. */
export function packVectors(vectors: readonly Float32Array[]): PackedVectors {
  const dimensions = vectors[0]?.length ?? 1;
  const values = new Float32Array(vectors.length * dimensions);
  for (const [row, vector] of vectors.entries()) values.set(vector, row * dimensions);
  return { dimensions, base64: Buffer.from(values.buffer).toString('base64') };
}

function unpackVectors({ dimensions, base64 }: PackedVectors): readonly Float32Array[] {
  const bytes = Buffer.from(base64, 'base64');
  // A copy of its own: a float array must start at a multiple of four bytes, which a pooled buffer need not.
  const values = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const rows = values.length / dimensions;
  return Array.from({ length: rows }, (_, row) => values.slice(row * dimensions, (row + 1) * dimensions));
}
