import { join } from 'node:path';
import { openAppender } from '#infra/kafka/appender.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { consumeGroup } from '#infra/kafka/group-consumer.ts';
import type { Logger } from '#infra/log.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';
import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import type { Topic } from '#schemas/topics.ts';
import type { SpeechSettings } from '../media/speech/speech-settings.ts';
import { JobTurns } from '../swap/runtime/job-turns.ts';
import { SwapOutcomes } from '../swap/runtime/swap-outcome.ts';
import type { SwapMaking } from '../swap/runtime/swap-parts.ts';
import { Cancellations } from './cancellations.ts';
import { ClipOutcomes } from './clip-outcome.ts';
import { followCancellations } from './follow-cancellations.ts';
import { type Intake, planIntake, renderIntake } from './intake.ts';
import type { ClipPipeline, JobParts, SourceLimits } from './job-parts.ts';
import { ProgressPublisher } from './progress-publisher.ts';
import { SourceCache } from './source-cache.ts';
import { TaskLane } from './task-lane.ts';
import type { WorkFolders } from './work-folders.ts';
import type { LaneName, WorkerMetrics } from './worker-metrics.ts';

export type WorkerOptions = Readonly<{
  kafka: KafkaConnection;
  storage: ObjectStorage;
  pipeline: ClipPipeline;
  tools: MediaTools;
  folders: WorkFolders;
  modelsFolder?: string | undefined;
  /** The speech model (`SPEECH_MODEL`), the bundled one unless given. */
  speech?: SpeechSettings | undefined;
  fontsFolder?: string | undefined;
  limits: SourceLimits;
  /** Without it the worker makes no face swaps. */
  swaps?: SwapMaking | undefined;
  /** Plans and renders run side by side, this many of each, so that a slow source holds up no render. */
  concurrency: number;
  /** A partition with so many unfinished tasks is paused. */
  maxUnfinishedPerPartition: number;
  /** Spreads the retries; in [0, 1). */
  random: () => number;
  metrics: WorkerMetrics;
  log: Logger;
}>;

export type Worker = Readonly<{
  /** Resolves when the worker has stopped; rejects when it cannot go on. */
  ended: Promise<void>;
  /** Starts no more tasks, lets the running ones end within a bounded time, commits and leaves the groups. */
  stop: () => Promise<void>;
}>;

type Consumption = Readonly<{ lane: TaskLane; consumed: Promise<void> }>;

/** Docker gives 10 s between SIGTERM and SIGKILL: 6 to finish, the rest to abort and to close. */
const drainMs = 6_000;
const laneTopics: Readonly<Record<LaneName, Topic>> = { plan: 'job.events', render: 'job.tasks' };

/** Starts the worker: a lane of tasks for each of the groups `workers-plan` and `workers-render`. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const leaving = new AbortController();
  const appender = await openAppender(options.kafka, { log: options.log });
  const parts: JobParts = {
    ...options,
    appender,
    sources: sourceCache(options),
    outcomes: new ClipOutcomes(options.storage),
    progress: new ProgressPublisher((records) => appender.append(records), Date.now),
    cancellations: new Cancellations(),
    now: Date.now,
  };
  const { cancellations } = parts;
  const swaps = options.swaps && {
    ...parts,
    swaps: {
      ...options.swaps,
      outcomes: new SwapOutcomes(options.storage),
      stitching: new JobTurns(),
    },
  };
  const following = await followCancellations(options.kafka, cancellations, leaving.signal);
  const sources = { now: Date.now, random: options.random, cancellations };
  const lanes = [
    consumeLane(options, 'plan', planIntake(parts, swaps, sources), leaving.signal),
    consumeLane(options, 'render', renderIntake(parts, swaps, sources), leaving.signal),
  ];
  const ended = Promise.all(lanes.map(({ consumed }) => consumed)).then(() => undefined);
  return {
    ended,
    stop: async () => {
      // The groups are left last: nobody else starts a task that still runs here.
      await Promise.all(lanes.map(({ lane }) => lane.stop(drainMs)));
      leaving.abort();
      await ended.catch(() => undefined);
      await following.ended;
      await appender.close();
    },
  };
}

/** As large as the largest source: the clips of one job come one after the other. */
function sourceCache({ storage, folders, limits: { maxBytes } }: WorkerOptions): SourceCache {
  return new SourceCache(join(folders.path, 'sources'), maxBytes, (key, path, signal) =>
    storage.getToFile(key, path, { maxBytes, signal }),
  );
}

function consumeLane(
  options: WorkerOptions,
  name: LaneName,
  intake: Intake,
  signal: AbortSignal,
): Consumption {
  const lane = new TaskLane({
    concurrency: options.concurrency,
    maxUnfinishedPerPartition: options.maxUnfinishedPerPartition,
    observer: options.metrics.lane(name),
    log: options.log.child({ lane: name }),
  });
  const consumed = consumeGroup(options.kafka, {
    group: `workers-${name}`,
    topics: [laneTopics[name]],
    fromBeginning: true,
    autoCommit: false,
    onBatch: async (batch, control) => {
      const tasks = batch.records.map(intake).filter((task) => task !== undefined);
      lane.accept(batch, tasks, control);
    },
    onAssigned: (partitions) => lane.assign(partitions),
    onRevoked: (partitions) => lane.revoke(partitions),
    signal,
  });
  return { lane, consumed };
}
