import type { TopicPartition } from '#infra/kafka/record.ts';
import type { Logger } from '#infra/log.ts';
import { FairQueue } from './fair-queue.ts';
import { UnfinishedOffsets } from './unfinished-offsets.ts';

/** How a try of a task ended: for good, or to be tried again after a wait. */
export type Verdict = Readonly<{ kind: 'finished' }> | Readonly<{ kind: 'retry'; delayMs: number }>;
export const finished: Verdict = { kind: 'finished' };

/** One record's work. `attempt` rejects only when its signal aborts. */
export type LaneTask = Readonly<{
  offset: number;
  /** Two tasks of one key never run at the same time. */
  key: string;
  teamId: number;
  attempt: (signal: AbortSignal) => Promise<Verdict>;
}>;

/** What a lane needs of the consumer to steer one partition. */
export type PartitionControl = Readonly<{
  /** Stops fetching the partition; the returned function starts it again. */
  pause: () => () => void;
  /** Coalesced and repeated by the consumer; never fails. */
  commit: (nextOffset: number) => void;
}>;

/** Counts what a lane does. */
export type LaneObserver = Readonly<{
  running: (count: number) => void;
  waiting: (count: number) => void;
  retried: () => void;
}>;

export type LaneOptions = Readonly<{
  concurrency: number;
  /** A partition with this many unfinished tasks is paused, and resumed at half. */
  maxUnfinishedPerPartition: number;
  observer: LaneObserver;
  log: Logger;
}>;

/** Why the signal of a running task aborts, apart from the job's deadline. */
export class TaskGivenBack extends Error {
  override readonly name = 'TaskGivenBack';
}

type Partition = TopicPartition & {
  readonly offsets: UnfinishedOffsets;
  control: PartitionControl;
  resume: (() => void) | undefined;
  /** Set while the partition is not ours. */
  dropTimer: NodeJS.Timeout | undefined;
};

type Entry = LaneTask & { readonly home: Partition };

/** An attempt must never reject by itself; when it does so all the same, the task waits this long. */
const brokenAttemptDelayMs = 5_000;
/**
 * A membership that is lost in a broker's restart comes back, mostly with the same partitions: running tasks
 * are given this long. Another member that repeats one meanwhile writes the same objects and events.
 */
const revokedGraceMs = 30_000;

/**
 * Runs the tasks of a consumer group's partitions, at most `concurrency` at once, by turns between teams,
 * and commits each partition's lowest unfinished offset. A task that waits for its next try holds no slot.
 */
export class TaskLane {
  readonly #options: LaneOptions;
  readonly #partitions = new Map<string, Partition>();
  readonly #waiting = new FairQueue<Entry>();
  readonly #delayed = new Map<Entry, NodeJS.Timeout>();
  readonly #running = new Map<Entry, AbortController>();
  readonly #runningKeys = new Set<string>();
  #idle = Promise.withResolvers<void>();
  #isStopped = false;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** These partitions are ours now, perhaps again: then their running tasks go on. */
  assign(partitions: readonly TopicPartition[]): void {
    for (const partition of this.#known(partitions)) {
      clearTimeout(partition.dropTimer);
      partition.dropTimer = undefined;
    }
    this.#startWhatFits();
  }

  /** These partitions are not ours any more: none of their tasks starts here, running ones end soon. */
  revoke(partitions: readonly TopicPartition[]): void {
    for (const partition of this.#known(partitions)) {
      partition.dropTimer ??= setTimeout(() => this.#drop(partition), revokedGraceMs).unref();
    }
  }

  /** Takes over a fetched batch: the tasks in it; its other records need no work. */
  accept(
    batch: TopicPartition & { readonly nextOffset: number },
    tasks: readonly LaneTask[],
    control: PartitionControl,
  ): void {
    if (this.#isStopped) return;
    const partition = this.#partition(batch, control);
    for (const task of tasks) {
      if (partition.offsets.take(task.offset)) this.#waiting.add({ ...task, home: partition });
    }
    partition.offsets.passTo(batch.nextOffset);
    if (partition.offsets.count >= this.#options.maxUnfinishedPerPartition) {
      partition.resume ??= control.pause();
    }
    this.#startWhatFits();
    this.#commit(partition);
  }

  /**
   * Starts nothing more, waits up to `drainMs` for what is running, aborts the rest and resolves once all
   * have ended. Unfinished tasks stay uncommitted: another worker, or the next start, takes them.
   */
  async stop(drainMs: number): Promise<void> {
    this.#isStopped = true;
    this.#waiting.drop(() => true);
    for (const timer of this.#delayed.values()) clearTimeout(timer);
    this.#delayed.clear();
    for (const { dropTimer } of this.#partitions.values()) clearTimeout(dropTimer);
    this.#observe();
    const abortAll = setTimeout(() => this.#abort(() => true), drainMs);
    if (this.#running.size > 0) await this.#idle.promise;
    clearTimeout(abortAll);
  }

  #partition(of: TopicPartition, control: PartitionControl): Partition {
    const name = partitionName(of);
    const known = this.#partitions.get(name);
    if (known !== undefined) {
      this.#useControl(known, control);
      return known;
    }
    const partition: Partition = {
      topic: of.topic,
      partition: of.partition,
      offsets: new UnfinishedOffsets(),
      control,
      resume: undefined,
      dropTimer: undefined,
    };
    this.#partitions.set(name, partition);
    return partition;
  }

  /** With a new membership what was committed and paused through the old one is in doubt. */
  #useControl(partition: Partition, control: PartitionControl): void {
    if (partition.control === control) return;
    partition.control = control;
    partition.offsets.forgetCommit();
    if (partition.resume !== undefined) partition.resume = control.pause();
  }

  #known(partitions: readonly TopicPartition[]): readonly Partition[] {
    return partitions
      .map((partition) => this.#partitions.get(partitionName(partition)))
      .filter((partition) => partition !== undefined);
  }

  #drop(partition: Partition): void {
    this.#partitions.delete(partitionName(partition));
    this.#waiting.drop((entry) => entry.home === partition);
    for (const [entry, timer] of [...this.#delayed]) {
      if (entry.home !== partition) continue;
      clearTimeout(timer);
      this.#delayed.delete(entry);
    }
    this.#abort((entry) => entry.home === partition);
    this.#observe();
  }

  #abort(isConcerned: (entry: Entry) => boolean): void {
    for (const [entry, controller] of this.#running) {
      if (isConcerned(entry)) controller.abort(new TaskGivenBack('The task is given back.'));
    }
  }

  #startWhatFits(): void {
    while (!this.#isStopped && this.#running.size < this.#options.concurrency) {
      const entry = this.#waiting.take(({ key, home }) => this.#isOurs(home) && !this.#runningKeys.has(key));
      if (entry === undefined) break;
      void this.#run(entry);
    }
    this.#observe();
  }

  async #run(entry: Entry): Promise<void> {
    const controller = new AbortController();
    this.#running.set(entry, controller);
    this.#runningKeys.add(entry.key);
    const verdict = await this.#attempt(entry, controller.signal);
    this.#running.delete(entry);
    this.#runningKeys.delete(entry.key);
    if (this.#isHeld(entry)) this.#settle(entry, verdict);
    if (this.#running.size === 0) {
      this.#idle.resolve();
      this.#idle = Promise.withResolvers();
    }
    this.#startWhatFits();
  }

  async #attempt(entry: Entry, signal: AbortSignal): Promise<Verdict | undefined> {
    try {
      return await entry.attempt(signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#options.log.error({ err: error, task: entry.key }, 'an attempt rejected');
      return { kind: 'retry', delayMs: brokenAttemptDelayMs };
    }
  }

  #settle(entry: Entry, verdict: Verdict | undefined): void {
    if (verdict === undefined) return;
    if (verdict.kind === 'retry') {
      if (!this.#isStopped) this.#delay(entry, verdict.delayMs);
      return;
    }
    const { home } = entry;
    home.offsets.finish(entry.offset);
    this.#commit(home);
    if (home.offsets.count * 2 <= this.#options.maxUnfinishedPerPartition) {
      home.resume?.();
      home.resume = undefined;
    }
  }

  #delay(entry: Entry, delayMs: number): void {
    this.#options.observer.retried();
    const again = () => {
      this.#delayed.delete(entry);
      this.#waiting.add(entry);
      this.#startWhatFits();
    };
    this.#delayed.set(entry, setTimeout(again, delayMs));
  }

  #isOurs(partition: Partition): boolean {
    return partition.dropTimer === undefined;
  }

  #isHeld({ home }: Entry): boolean {
    return this.#partitions.get(partitionName(home)) === home;
  }

  #commit({ offsets, control }: Partition): void {
    const position = offsets.uncommittedPosition();
    if (position === undefined) return;
    control.commit(position);
    offsets.markCommitted(position);
  }

  #observe(): void {
    this.#options.observer.running(this.#running.size);
    this.#options.observer.waiting(this.#waiting.size + this.#delayed.size);
  }
}

const partitionName = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;
