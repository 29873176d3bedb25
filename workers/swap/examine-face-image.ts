import { runSwapChild } from './child/run-swap-child.ts';
import type { ExaminedFace, SwapContext } from './contract.ts';

const wallMs = 90_000;

/**
 * Reads a face image and chooses the face in it: the largest. Throws `MediaFailure`: NOT_AN_IMAGE for what cannot be
 * read, FACE_NOT_USABLE for none, or one that is too small, blurred, dark, cut off or turned away; its message
 * says what photo would do.
 */
export async function examineFaceImage(imagePath: string, context: SwapContext): Promise<ExaminedFace> {
  return runSwapChild({ kind: 'examine', imagePath }, { context, stage: 'examining', wallMs });
}
