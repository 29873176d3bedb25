import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import type { LaneObserver } from './task-lane.ts';
import type { StageObserver } from './task-stages.ts';

export type LaneName = 'plan' | 'render';

/** What a worker counts. */
export type WorkerMetrics = Readonly<{
  lane: (name: LaneName) => LaneObserver;
  stages: StageObserver;
  /** A task ended: `code` is `completed`, `repeated` or the failure's code. */
  ended: (lane: LaneName, code: string) => void;
}>;

/** From a fetch of a few MB to the longest renders. */
const stageSeconds = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 1800];

/** The worker's counters in `registry`. */
export function createWorkerMetrics(registry: Registry): WorkerMetrics {
  const registers = [registry];
  const running = new Gauge({
    name: 'clipledger_worker_tasks_running',
    help: 'Tasks that run now.',
    labelNames: ['lane'],
    registers,
  });
  const waiting = new Gauge({
    name: 'clipledger_worker_tasks_waiting',
    help: 'Tasks that were taken and wait for a slot or for their next try.',
    labelNames: ['lane'],
    registers,
  });
  const retries = new Counter({
    name: 'clipledger_worker_task_retries_total',
    help: 'Tries that failed and will be repeated.',
    labelNames: ['lane'],
    registers,
  });
  const results = new Counter({
    name: 'clipledger_worker_task_results_total',
    help: 'Tasks that ended, by how.',
    labelNames: ['lane', 'code'],
    registers,
  });
  const stages = new Histogram({
    name: 'clipledger_worker_stage_seconds',
    help: 'How long the stages of tasks take.',
    labelNames: ['stage'],
    buckets: stageSeconds,
    registers,
  });
  const inStage = new Gauge({
    name: 'clipledger_worker_stage_tasks',
    help: 'Tasks that are in a stage now.',
    labelNames: ['stage'],
    registers,
  });
  const doneOfStage = new Gauge({
    name: 'clipledger_worker_stage_done',
    help: 'How much of a stage the tasks in it have done, 0 to 1 each, together.',
    labelNames: ['stage'],
    registers,
  });
  return {
    lane: (lane) => ({
      running: (count) => running.set({ lane }, count),
      waiting: (count) => waiting.set({ lane }, count),
      retried: () => retries.inc({ lane }),
    }),
    stages: {
      took: (stage, seconds) => stages.observe({ stage }, seconds),
      moved: (stage, { tasks, fraction }) => {
        inStage.inc({ stage }, tasks);
        doneOfStage.inc({ stage }, fraction);
      },
    },
    ended: (lane, code) => results.inc({ lane, code }),
  };
}
