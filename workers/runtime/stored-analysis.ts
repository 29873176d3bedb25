import { z } from 'zod';
import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { sourceAnalysisSchema } from '../media/analysis/analysis-schema.ts';

/** A source as its job's plan knows it: nothing else of the fetched file is needed to plan, or to plan again. */
const analysedSource = z.object({
  sourceName: z.object({ title: z.string().nullable(), fileName: z.string() }),
  analysis: sourceAnalysisSchema,
});

export type AnalysedSource = z.infer<typeof analysedSource>;

/** Four hours with faces all the time are some 20 MB. */
const maxAnalysisBytes = 128 * 1024 * 1024;

/** The analysis under `key`. Throws `StorageFailure` where there is none. */
export async function readAnalysis(
  storage: ObjectStorage,
  key: string,
  signal: AbortSignal,
): Promise<AnalysedSource> {
  const bytes = await storage.getBytes(key, maxAnalysisBytes, signal);
  return analysedSource.parse(JSON.parse(bytes.toString('utf8')));
}

/** Stores an analysis under `key`, compact. */
export async function writeAnalysis(
  storage: ObjectStorage,
  key: string,
  analysed: AnalysedSource,
  signal: AbortSignal,
): Promise<void> {
  const body = Buffer.from(JSON.stringify(analysed));
  await storage.putBytes(key, body, { contentType: 'application/json', signal });
}
