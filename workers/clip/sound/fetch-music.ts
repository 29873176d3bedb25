import { join } from 'node:path';
import { EgressFailure } from '#infra/egress/egress-failure.ts';
import { fetchToFile } from '#infra/egress/fetch-to-file.ts';
import type { EgressAllow } from '#infra/egress/forbidden-url.ts';
import { egressMeaning } from '../fetch-source.ts';
import { type CheckedMusic, checkMusic, type MusicContext } from './check-music.ts';

export type FetchMusicInput = {
  readonly url: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
};

const idleTimeoutMs = 30_000;

/**
 * Fetches a job's music by its URL into the task's folder, through the egress guard, and makes sure that it can be
 * played. Throws `MediaFailure`.
 */
export async function fetchMusic(
  { url, maxBytes, timeoutMs }: FetchMusicInput,
  context: MusicContext,
  allow: EgressAllow,
): Promise<CheckedMusic> {
  const path = join(context.taskFolder, 'music');
  const { signal } = context;
  try {
    await fetchToFile({ url, path, what: 'music', maxBytes, timeoutMs, idleTimeoutMs, allow, signal });
  } catch (error) {
    throw error instanceof EgressFailure ? egressMeaning(error) : error;
  }
  return checkMusic(path, context);
}
