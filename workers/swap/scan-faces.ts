import { runSwapChild } from './child/run-swap-child.ts';
import type { SwapContext, SwapPlan } from './contract.ts';

const startMs = 180_000;
const msPerVideoMs = 5;

/** Makes the plan of a video's swap. Throws `MediaFailure`: NO_FACE where nobody's face is to be seen. */
export async function scanFaces(videoPath: string, context: SwapContext): Promise<SwapPlan> {
  const maxDurationMs = context.maxSourceDurationMs;
  const wallMs = startMs + maxDurationMs * msPerVideoMs;
  return runSwapChild({ kind: 'scan', videoPath, maxDurationMs }, { context, stage: 'scanning', wallMs });
}
