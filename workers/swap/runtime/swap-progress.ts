import type { JobStage } from '../../runtime/progress-publisher.ts';
import type { TaskStages } from '../../runtime/task-stages.ts';
import { type SwapProgress, type SwapStage, stageShares } from '../contract.ts';

/** Which part of a job's frames a task swaps; `before` are those of segments that are done already. */
export type FrameShare = Readonly<{ before: number; own: number; total: number }>;

export const allFrames: FrameShare = { before: 0, own: 1, total: 1 };

const stages = ['examining', 'scanning', 'swapping', 'stitching', 'checking'] as const;

/** How much of the whole job is done, 0 to 1, where a call has come so far and others have done their part. */
export function wholeFraction({ stage, fraction }: SwapProgress, share: FrameShare): number {
  const before = stages
    .slice(0, stages.indexOf(stage))
    .reduce((sum, earlier) => sum + stageShares[earlier], 0);
  const within = stage === 'swapping' ? (share.before + share.own * fraction) / share.total : fraction;
  return Math.min(1, before + stageShares[stage] * within);
}

const shownStages: Readonly<Record<SwapStage, JobStage>> = {
  examining: 'analyse',
  scanning: 'analyse',
  swapping: 'render',
  stitching: 'render',
  checking: 'render',
};

/** Says how far the whole job is while one of its tasks runs; what it says never falls. */
export class SwapProgressMeter {
  readonly #stages: TaskStages;
  #share = allFrames;
  #highest = 0;

  constructor(stages: TaskStages) {
    this.#stages = stages;
  }

  /** From now on the task swaps these frames. */
  swaps(share: FrameShare): void {
    this.#share = share;
  }

  /** The task is in `stage`, which is none of the engine's. */
  enter(stage: JobStage): void {
    this.#stages.enter(stage, this.#highest);
  }

  /** The engine's own progress. */
  readonly onProgress = (progress: SwapProgress): void => {
    this.#highest = Math.max(this.#highest, wholeFraction(progress, this.#share));
    this.#stages.enter(shownStages[progress.stage], this.#highest);
  };
}
