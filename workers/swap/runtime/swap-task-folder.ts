import { TaskStages } from '../../runtime/task-stages.ts';
import type { SwapContext } from '../contract.ts';
import type { SwapParts } from './swap-parts.ts';
import { SwapProgressMeter } from './swap-progress.ts';

/** A platform says its videos' lengths in whole seconds, so one may be this much longer than was billed. */
export const platformRoundingMs = 1_000;

/** Where one task of a swap works: its folder, and how it tells how far it is. */
export type SwapWorkplace = Readonly<{ context: SwapContext; meter: SwapProgressMeter }>;

/** Calls `work` with a folder of its own, which is removed afterwards. */
export function withinSwapFolder<Result>(
  parts: SwapParts,
  job: Readonly<{ job_id: string; team_id: number }>,
  signal: AbortSignal,
  work: (place: SwapWorkplace) => Promise<Result>,
): Promise<Result> {
  return parts.folders.within(async (taskFolder) => {
    const about = { jobId: job.job_id, teamId: job.team_id };
    const stages = new TaskStages(about, parts.progress, parts.metrics.stages);
    const meter = new SwapProgressMeter(stages);
    const context: SwapContext = {
      tools: parts.tools,
      taskFolder,
      signal,
      onProgress: meter.onProgress,
      maxSourceDurationMs: parts.swaps.limits.maxDurationMs + platformRoundingMs,
      modelsFolder: parts.modelsFolder,
      settings: parts.swaps.settings,
    };
    try {
      return await work({ context, meter });
    } finally {
      stages.leave();
    }
  });
}
