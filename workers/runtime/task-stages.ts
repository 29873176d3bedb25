import type { StageProgress } from '../clip/contract.ts';
import { type JobStage, jobStage, type ProgressPublisher } from './progress-publisher.ts';

/** A stage that is not repeated for a minute is not shown any more. */
const repeatMs = 15_000;

/** What is measured of the stages that tasks are in. */
export type StageObserver = Readonly<{
  /** A task has left a stage. */
  took: (stage: JobStage, seconds: number) => void;
  /** Tasks have entered (1) or left (-1) a stage, or done this much more of it. */
  moved: (stage: JobStage, by: { readonly tasks: number; readonly fraction: number }) => void;
}>;

/** One task on its way through its stages: clients see where it is, the metrics how long each stage took. */
export class TaskStages {
  readonly #job: { readonly jobId: string; readonly teamId: number };
  readonly #progress: ProgressPublisher;
  readonly #observer: StageObserver;
  #current: { readonly stage: JobStage; readonly sinceMs: number; fraction: number } | undefined;
  #repeating: NodeJS.Timeout | undefined;

  constructor(
    job: { readonly jobId: string; readonly teamId: number },
    progress: ProgressPublisher,
    observer: StageObserver,
  ) {
    this.#job = job;
    this.#progress = progress;
    this.#observer = observer;
  }

  /** The task is in `stage` now; that is said again and again until it leaves it. */
  enter(stage: JobStage, fraction = 0): void {
    if (this.#current?.stage !== stage) {
      this.leave();
      this.#current = { stage, sinceMs: performance.now(), fraction: 0 };
      this.#observer.moved(stage, { tasks: 1, fraction: 0 });
      this.#repeating = setInterval(() => this.#report(), repeatMs).unref();
    }
    this.#observer.moved(stage, { tasks: 0, fraction: fraction - this.#current.fraction });
    this.#current.fraction = fraction;
    this.#report();
  }

  /** The pipeline's own progress. */
  readonly onProgress = ({ stage, fraction }: StageProgress): void => this.enter(jobStage(stage), fraction);

  /** The task's last stage is over. */
  leave(): void {
    clearInterval(this.#repeating);
    if (this.#current === undefined) return;
    const { stage, sinceMs, fraction } = this.#current;
    this.#observer.took(stage, (performance.now() - sinceMs) / 1_000);
    this.#observer.moved(stage, { tasks: -1, fraction: -fraction });
    this.#current = undefined;
  }

  #report(): void {
    if (this.#current !== undefined)
      this.#progress.report(this.#job, this.#current.stage, this.#current.fraction);
  }
}
