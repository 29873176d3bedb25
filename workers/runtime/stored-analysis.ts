import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { type SourceAnalysis, sourceAnalysisSchema } from '../media/analysis/analysis-schema.ts';

/** Four hours with faces all the time are some 20 MB. */
const maxAnalysisBytes = 128 * 1024 * 1024;

/** The analysis under `key`. Throws `StorageFailure` where there is none. */
export async function readAnalysis(
  storage: ObjectStorage,
  key: string,
  signal: AbortSignal,
): Promise<SourceAnalysis> {
  const bytes = await storage.getBytes(key, maxAnalysisBytes, signal);
  return sourceAnalysisSchema.parse(JSON.parse(bytes.toString('utf8')));
}

/** Stores an analysis under `key`, compact. */
export async function writeAnalysis(
  storage: ObjectStorage,
  key: string,
  analysis: SourceAnalysis,
  signal: AbortSignal,
): Promise<void> {
  const body = Buffer.from(JSON.stringify(analysis));
  await storage.putBytes(key, body, { contentType: 'application/json', signal });
}
