import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ProcessFailed, runLimited } from '#infra/media/limited-process.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';
import { mostFileBytes } from '#infra/media/run-ffmpeg.ts';
import { reportReader } from '../../media/analysis/child-report.ts';
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

export type ChildSetting = { readonly tools: MediaTools; readonly modelsFolder?: string };

/** In the task's folder: a plan is too large for an argument. */
export const orderFile = 'swap-order.json';
/** The child holds a few frames and the models; each ffmpeg that it runs as much at most. */
const memoryBytes = 4 * 1024 ** 3;

/**
 * Does the work of one call in a process of its own: native code that reads strangers' files must not take the
 * worker with it. Throws `MediaFailure`.
 */
export async function runSwapChild<Kind extends SwapOrder['kind']>(
  order: Extract<SwapOrder, { kind: Kind }>,
  about: { readonly context: SwapContext; readonly stage: SwapStage; readonly wallMs: number },
): Promise<SwapAnswers[Kind]> {
  const { context, stage } = about;
  const { tools, modelsFolder, taskFolder } = context;
  await writeFile(join(taskFolder, orderFile), JSON.stringify(order));
  const setting: ChildSetting = { tools, ...(modelsFolder === undefined ? {} : { modelsFolder }) };
  let result: unknown;
  let failure: MediaFailure | undefined;
  let done = 0;
  try {
    await runLimited({
      tools,
      program: process.execPath,
      args: [fileURLToPath(new URL('swap-child-main.ts', import.meta.url)), JSON.stringify(setting)],
      cwd: taskFolder,
      signal: context.signal,
      limits: {
        wallMs: about.wallMs,
        memory: { kind: 'data', bytes: memoryBytes },
        // No less than its ffmpeg asks for: a process cannot raise what its parent was held to.
        fileBytes: mostFileBytes,
      },
      onStdout: reportReader((report) => {
        if ('done' in report) {
          done = Math.max(done, Math.min(1, report.done));
          context.onProgress({ stage, fraction: done });
        } else if ('failure' in report) failure = report.failure;
        else result = report.result;
      }),
    });
  } catch (error) {
    throw error instanceof ProcessFailed ? childFailed(error) : error;
  }
  if (failure !== undefined) throw failure;
  if (result === undefined) throw new MediaFailure('TOOL_BROKEN', 'Swapping the face failed.');
  context.onProgress({ stage, fraction: 1 });
  // Both sides of the pipe are this program: the answer is what the order asks for.
  return result as SwapAnswers[Kind];
}

function childFailed(error: ProcessFailed): MediaFailure {
  const about = { cause: error, detail: `${error.message}: ${error.stderrTail.slice(-1500)}` };
  return error.exitSignal === 'SIGKILL'
    ? new MediaFailure('MEMORY_LIMIT', 'Swapping the face needed more memory than is allowed.', about)
    : new MediaFailure('TOOL_BROKEN', 'Swapping the face failed.', about);
}
