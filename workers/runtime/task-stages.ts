import type { StageProgress } from '../clip/contract.ts';
import { type JobStage, jobStage, type ProgressPublisher } from './progress-publisher.ts';

/** A stage that is not repeated for a minute is not shown any more. */
const repeatMs = 15_000;

/** One task on its way through its stages: clients see where it is, the metrics how long each stage took. */
export class TaskStages {
  readonly #job: { readonly jobId: string; readonly teamId: number };
  readonly #progress: ProgressPublisher;
  readonly #observe: (stage: JobStage, seconds: number) => void;
  #current: { readonly stage: JobStage; readonly sinceMs: number; fraction: number } | undefined;
  #repeating: NodeJS.Timeout | undefined;

  constructor(
    job: { readonly jobId: string; readonly teamId: number },
    progress: ProgressPublisher,
    observe: (stage: JobStage, seconds: number) => void,
  ) {
    this.#job = job;
    this.#progress = progress;
    this.#observe = observe;
  }

  /** The task is in `stage` now; that is said again and again until it leaves it. */
  enter(stage: JobStage, fraction = 0): void {
    if (this.#current?.stage !== stage) {
      this.leave();
      this.#current = { stage, sinceMs: performance.now(), fraction };
      this.#repeating = setInterval(() => this.#report(), repeatMs).unref();
    }
    this.#current.fraction = fraction;
    this.#report();
  }

  /** The pipeline's own progress. */
  readonly onProgress = ({ stage, fraction }: StageProgress): void => this.enter(jobStage(stage), fraction);

  /** The task's last stage is over. */
  leave(): void {
    clearInterval(this.#repeating);
    if (this.#current === undefined) return;
    this.#observe(this.#current.stage, (performance.now() - this.#current.sinceMs) / 1_000);
    this.#current = undefined;
  }

  #report(): void {
    if (this.#current !== undefined)
      this.#progress.report(this.#job, this.#current.stage, this.#current.fraction);
  }
}
