import { setTimeout as delay } from 'node:timers/promises';
import type { Topic } from '#schemas/topics.ts';
import { committedOffsets } from './committed-offsets.ts';
import type { KafkaConnection } from './connection.ts';
import { defaultSession, GroupMembership, type SessionLimits } from './group-membership.ts';
import { KafkaFailure, reasonOf } from './kafka-failure.ts';
import { LogFeed } from './log-feed.ts';
import { partitionBounds } from './log-fetcher.ts';
import { OffsetCommitter } from './offset-committer.ts';
import { PartitionConsumption } from './partition-consumption.ts';

import type { ReadRecord, TopicPartition } from './record.ts';

/** Committed records of one partition, in order. */
export type RecordBatch = TopicPartition &
  Readonly<{
    records: readonly ReadRecord[];
    /** Where the partition continues after this batch; markers of transactions are counted. */
    nextOffset: number;
    /** The end of the committed records as of the fetch. */
    highWatermark: number;
  }>;

/** What a batch's handler can do; it may keep this and use it after the batch, until `isStale()`. */
export type BatchControl = Readonly<{
  /** Stops the deliveries of this partition until the returned function is called. */
  pause: () => () => void;
  /** Says where the group would continue after a crash. Coalesced with other commits; rejects never. */
  commit: (nextOffset: number) => void;
  /** The partition is no longer ours (or the consumer stops): another member may be working on it. */
  isStale: () => boolean;
  /** Aborts when `isStale` turns true. */
  signal: AbortSignal;
}>;

export type GroupConsumption = Readonly<{
  group: string;
  topics: readonly Topic[];
  /** Where a partition begins that has no offset yet: at its beginning or at its end. */
  fromBeginning: boolean;
  /** Called with one batch of a partition at a time; a batch whose handler rejects is delivered again. */
  onBatch: (batch: RecordBatch, control: BatchControl) => Promise<void>;
  /** Commit each batch's end once its handler is done. */
  autoCommit: boolean;
  /** Where to continue, for offsets kept elsewhere; undefined falls back to the group's own. */
  startOffset?: (topic: Topic, partition: number) => Promise<number | undefined>;
  onAssigned?: (assigned: readonly TopicPartition[]) => void;
  onRevoked?: (revoked: readonly TopicPartition[]) => void;
  /** Everything before `nextOffset` is handled; also called where only markers were passed. */
  onPosition?: (topic: Topic, partition: number, nextOffset: number) => void;
  /** Awaited when the consumer stops, before the last offsets are committed: work outside of handlers ends here. */
  onDrain?: () => Promise<void>;
  session?: SessionLimits;
  signal: AbortSignal;
}>;

const REJOIN_MS = { first: 200, most: 5_000 };

/**
 * Consumes `topics` as a member of a group until `signal` aborts, then stops: handlers in progress are
 * waited for, offsets are committed, the group is left. Whatever fails meanwhile is retried with backoff.
 */
export async function consumeGroup(kafka: KafkaConnection, consumption: GroupConsumption): Promise<void> {
  let waitMs = REJOIN_MS.first;
  while (!consumption.signal.aborted) {
    try {
      const lived = await consumeAsMember(kafka, consumption);
      if (lived) waitMs = REJOIN_MS.first;
    } catch (error) {
      if (error instanceof KafkaFailure && !error.retryable) throw error;
      kafka.log.warn(
        { group: consumption.group, reason: reasonOf(error) },
        'Consuming failed; joining again.',
      );
    }
    if (!consumption.signal.aborted)
      await delay(waitMs, undefined, { signal: consumption.signal }).catch(() => undefined);
    waitMs = Math.min(waitMs * 2, REJOIN_MS.most);
  }
}

/** One membership from joining to its end; whether it ever got an assignment. */
async function consumeAsMember(kafka: KafkaConnection, consumption: GroupConsumption): Promise<boolean> {
  const { group, topics, session = defaultSession } = consumption;
  const ended = new AbortController();
  const end = () => ended.abort();
  consumption.signal.addEventListener('abort', end, { once: true });
  const work = new AssignedWork(kafka, consumption, ended);
  const feedRun = work.feed.run();
  try {
    const membership = await GroupMembership.join(
      kafka,
      { group, topics, session },
      { onAssigned: (assigned) => work.assign(assigned), onLost: () => work.lose() },
    );
    work.committer.use(membership);
    if (consumption.signal.aborted) end();
    await aborted(ended.signal);
    await work.finish();
    await membership.leave();
    if (work.failure !== undefined) throw work.failure;
    return work.wasAssigned;
  } finally {
    consumption.signal.removeEventListener('abort', end);
    ended.abort();
    await feedRun;
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

/** The partitions of one membership and the work on each. */
class AssignedWork {
  readonly feed: LogFeed;
  readonly committer: OffsetCommitter;
  wasAssigned = false;
  failure: KafkaFailure | undefined;
  readonly #kafka: KafkaConnection;
  readonly #consumption: GroupConsumption;
  readonly #ended: AbortController;
  readonly #running = new Map<string, Readonly<{ work: PartitionConsumption; done: Promise<void> }>>();
  /** Handlers of partitions that went to another member, still to be waited for. */
  readonly #leaving = new Set<Promise<void>>();

  constructor(kafka: KafkaConnection, consumption: GroupConsumption, ended: AbortController) {
    this.#kafka = kafka;
    this.#consumption = consumption;
    this.#ended = ended;
    this.feed = new LogFeed(kafka, consumption.topics, ended.signal);
    this.committer = new OffsetCommitter(kafka);
  }

  assign(assigned: readonly TopicPartition[]): void {
    this.wasAssigned = true;
    const keys = new Set(assigned.map(keyOf));
    this.#revoke((key) => !keys.has(key));
    const added = assigned.filter((at) => !this.#running.has(keyOf(at)));
    for (const at of added) this.#start(at);
    if (added.length > 0) this.#consumption.onAssigned?.(added);
  }

  lose(): void {
    this.#revoke(() => true);
    this.#ended.abort();
  }

  /** Ends all work in order: handlers, what the caller drains, the last commit. */
  async finish(): Promise<void> {
    for (const { work } of this.#running.values()) work.stop();
    await Promise.all([...this.#leaving, ...[...this.#running.values()].map(({ done }) => done)]);
    if (this.#consumption.signal.aborted) await this.#consumption.onDrain?.();
    await this.committer.close();
    this.#revoke(() => true);
  }

  #start(at: TopicPartition): void {
    const work = new PartitionConsumption(at, {
      kafka: this.#kafka,
      consumption: this.#consumption,
      feed: this.feed,
      committer: this.committer,
      groupOffset: (partition) => this.#groupOffset(partition),
    });
    const done = work.run().catch((error: unknown) => {
      this.failure = error instanceof KafkaFailure ? error : undefined;
      this.#ended.abort();
    });
    this.#running.set(keyOf(at), { work, done });
  }

  #revoke(isRevoked: (key: string) => boolean): void {
    const revoked = [...this.#running].filter(([key]) => isRevoked(key));
    for (const [key, { work, done }] of revoked) {
      this.#running.delete(key);
      work.revoke();
      this.#leaving.add(done);
      void done.finally(() => this.#leaving.delete(done));
    }
    if (revoked.length > 0) this.#consumption.onRevoked?.(revoked.map(([, { work }]) => work.at));
  }

  async #groupOffset({ topic, partition }: TopicPartition): Promise<number> {
    const { group, fromBeginning } = this.#consumption;
    const committed = (await committedOffsets(this.#kafka, group, topic)).get(partition);
    const { beginning, end } = await partitionBounds(this.#kafka, { topic, partition });
    if (committed === undefined) return fromBeginning ? beginning : end;
    // A committed offset can lie outside of the log: retention went past it, or the topic was made anew.
    return committed > end ? beginning : Math.max(committed, beginning);
  }
}

const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;
