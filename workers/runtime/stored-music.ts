import { join } from 'node:path';
import type { ClipOptions, JobRequested } from '#schemas/records.ts';
import type { PipelineContext } from '../clip/contract.ts';
import type { JobParts } from './job-parts.ts';
import { musicKey } from './object-keys.ts';

/** The longest a piece of music may take to arrive. */
const fetchLimitMs = 5 * 60_000;

/** Where the music of a job that has some is for its renderers. */
export const storedMusicKey = (jobId: string, options: Pick<ClipOptions, 'music_object_key'>): string =>
  options.music_object_key ?? musicKey(jobId);

/**
 * Fetches a job's music once for all its clips, or looks at what was uploaded; nothing where none was asked for.
 * Throws `MediaFailure` for music that cannot be had or played: a clip never goes without what was paid for.
 */
export async function provideMusic(
  parts: JobParts,
  job: { readonly request: JobRequested; readonly options: ClipOptions },
  context: PipelineContext,
): Promise<void> {
  const { music_url: url, music_object_key: objectKey } = job.options;
  const { signal } = context;
  if (objectKey !== null) {
    const path = join(context.taskFolder, 'music');
    await parts.sources.place(objectKey, path, signal);
    await parts.pipeline.checkMusic(path, context);
    return;
  }
  if (url === null) return;
  const key = musicKey(job.request.job_id);
  if ((await parts.storage.head(key, signal)) !== undefined) return;
  const timeoutMs = Math.max(1, Math.min(fetchLimitMs, job.request.deadline_at - parts.now()));
  const maxBytes = parts.limits.maxMusicBytes;
  const { path, type } = await parts.pipeline.fetchMusic({ url, maxBytes, timeoutMs }, context);
  await parts.storage.putFile(key, path, { contentType: type.contentType, signal });
  await parts.sources.keep(key, path);
}
