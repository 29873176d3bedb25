import { fileURLToPath } from 'node:url';
import { runSwapProgram } from '#infra/media/run-swap-program.ts';
import type {
  ExaminedFace,
  SegmentReport,
  StageTimes,
  SwapContext,
  SwapPlan,
  SwapSettings,
  SwapStage,
} from '../contract.ts';

/** What a child is to do; plain JSON. */
export type SwapOrder =
  | { readonly kind: 'examine'; readonly imagePath: string }
  | { readonly kind: 'scan'; readonly videoPath: string; readonly maxDurationMs: number }
  | {
      readonly kind: 'swap';
      readonly videoPath: string;
      readonly imagePath: string;
      readonly plan: SwapPlan;
      /** A segment of the plan, or null for the whole video. */
      readonly segment: number | null;
      readonly settings: SwapSettings;
      readonly outputPath: string;
      readonly sheetPath: string;
      readonly wallMs: number;
    }
  | {
      readonly kind: 'stitch';
      readonly videoPath: string;
      readonly plan: SwapPlan;
      readonly segments: readonly { readonly segment: number; readonly path: string }[];
      readonly settings: SwapSettings;
      readonly outputPath: string;
      readonly sheetPath: string;
      readonly wallMs: number;
    };

/** What a child answers. */
export type SwapAnswers = {
  readonly examine: ExaminedFace;
  readonly scan: SwapPlan;
  readonly swap: { readonly segments: readonly SegmentReport[]; readonly times: StageTimes };
  readonly stitch: { readonly times: StageTimes };
};

/** The child holds a few frames and the models; each ffmpeg that it runs as much at most. */
const memoryBytes = 4 * 1024 ** 3;
/** A plan of 300 s at 60 frames a second is under 2 MB. */
const reportBytes = 64 * 1024 ** 2;

/** Does the work of one call in a process of its own. Throws `MediaFailure`. */
export async function runSwapChild<Kind extends SwapOrder['kind']>(
  order: Extract<SwapOrder, { kind: Kind }>,
  about: { readonly context: SwapContext; readonly stage: SwapStage; readonly wallMs: number },
): Promise<SwapAnswers[Kind]> {
  const { context, stage, wallMs } = about;
  let done = 0;
  const result = await runSwapProgram({
    program: fileURLToPath(new URL('swap-child-main.ts', import.meta.url)),
    order,
    tools: context.tools,
    modelsFolder: context.modelsFolder,
    folder: context.taskFolder,
    signal: context.signal,
    limits: { wallMs, memoryBytes, reportBytes },
    onDone: (part) => {
      done = Math.max(done, Math.min(1, part));
      context.onProgress({ stage, fraction: done });
    },
  });
  context.onProgress({ stage, fraction: 1 });
  // Both sides of the pipe are this program: the answer is what the order asks for.
  return result as SwapAnswers[Kind];
}
