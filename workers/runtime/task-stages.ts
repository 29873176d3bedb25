import type { StageProgress } from '../clip/contract.ts';
import { type JobStage, jobStage, type ProgressPublisher } from './progress-publisher.ts';

/** One task on its way through its stages: clients see where it is, the metrics how long each stage took. */
export class TaskStages {
  readonly #job: { readonly jobId: string; readonly teamId: number };
  readonly #progress: ProgressPublisher;
  readonly #observe: (stage: JobStage, seconds: number) => void;
  #current: { readonly stage: JobStage; readonly sinceMs: number } | undefined;

  constructor(
    job: { readonly jobId: string; readonly teamId: number },
    progress: ProgressPublisher,
    observe: (stage: JobStage, seconds: number) => void,
  ) {
    this.#job = job;
    this.#progress = progress;
    this.#observe = observe;
  }

  /** The task is in `stage` now. */
  enter(stage: JobStage, fraction = 0): void {
    if (this.#current?.stage !== stage) {
      this.leave();
      this.#current = { stage, sinceMs: performance.now() };
    }
    this.#progress.report(this.#job, stage, fraction);
  }

  /** The pipeline's own progress. */
  readonly onProgress = ({ stage, fraction }: StageProgress): void => this.enter(jobStage(stage), fraction);

  /** The task's last stage is over. */
  leave(): void {
    if (this.#current === undefined) return;
    this.#observe(this.#current.stage, (performance.now() - this.#current.sinceMs) / 1_000);
    this.#current = undefined;
  }
}
