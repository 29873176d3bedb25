import type { MediaTools } from '#infra/media/media-tools.ts';
import type { ModelStore } from '../../models/model-store.ts';

/** What the work in a child process is given. */
export type ChildContext = {
  readonly tools: MediaTools;
  /** Where it runs: the task's folder. */
  readonly taskFolder: string;
  /** Never aborts: the parent stops the process, and the kernel then ends what it runs. */
  readonly signal: AbortSignal;
  readonly models: ModelStore;
  /** How much is done, 0 to 1. */
  readonly onDone: (fraction: number) => void;
};
