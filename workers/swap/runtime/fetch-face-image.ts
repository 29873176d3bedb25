import { join } from 'node:path';
import { EgressFailure } from '#infra/egress/egress-failure.ts';
import { fetchToFile } from '#infra/egress/fetch-to-file.ts';
import type { EgressAllow } from '#infra/egress/forbidden-url.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { sniffFile } from '#infra/media/sniff.ts';
import type { FetchInput } from '../../clip/contract.ts';
import { egressMeaning } from '../../clip/fetch-source.ts';
import type { SwapContext } from '../contract.ts';
import type { FetchedImage } from './swap-parts.ts';

const idleTimeoutMs = 30_000;

/** Fetches a face image through the egress guard; it must be an image by its content. Throws `MediaFailure`. */
export async function fetchFaceImage(
  { url, maxBytes, timeoutMs }: FetchInput,
  { taskFolder, signal }: Pick<SwapContext, 'taskFolder' | 'signal'>,
  allow: EgressAllow,
): Promise<FetchedImage> {
  const path = join(taskFolder, 'face-image');
  try {
    await fetchToFile({ url, path, what: 'face image', maxBytes, timeoutMs, idleTimeoutMs, allow, signal });
  } catch (error) {
    throw error instanceof EgressFailure ? egressMeaning(error) : error;
  }
  const { kind, contentType } = await sniffFile(path);
  if (kind === 'image') return { path, contentType };
  throw new MediaFailure(
    'NOT_AN_IMAGE',
    'The face image is not an image of type jpg, png or webp, judged by its content.',
  );
}
