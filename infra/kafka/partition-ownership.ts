import { setTimeout as delay } from 'node:timers/promises';
import type { Topic } from '#schemas/topics.ts';
import type { KafkaConnection } from './connection.ts';
import { defaultSession, GroupMembership } from './group-membership.ts';
import { reasonOf } from './kafka-failure.ts';

export type PartitionOwnership = Readonly<{
  group: string;
  topic: Topic;
  /** Works on one partition until its signal aborts; a rejection ends the whole ownership. */
  own: (partition: number, signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
}>;

const REJOIN_MS = { first: 200, most: 5_000 };

/**
 * Shares a topic's partitions with the other members of a group, and runs `own` for each that is this
 * member's, until `signal` aborts. A lost membership stops the work and joins again.
 */
export async function ownPartitions(kafka: KafkaConnection, ownership: PartitionOwnership): Promise<void> {
  let waitMs = REJOIN_MS.first;
  while (!ownership.signal.aborted) {
    try {
      if (await ownAsMember(kafka, ownership)) waitMs = REJOIN_MS.first;
    } catch (error) {
      if (error instanceof OwnerFailed) throw error.cause;
      kafka.log.warn({ group: ownership.group, reason: reasonOf(error) }, 'Joining failed; joining again.');
    }
    await delay(waitMs, undefined, { signal: ownership.signal }).catch(() => undefined);
    waitMs = Math.min(waitMs * 2, REJOIN_MS.most);
  }
}

/** The work itself cannot go on, as opposed to the membership. */
class OwnerFailed extends Error {}

async function ownAsMember(kafka: KafkaConnection, ownership: PartitionOwnership): Promise<boolean> {
  const { group, topic, signal } = ownership;
  const ended = Promise.withResolvers<void>();
  const owned = new OwnedPartitions(ownership.own, (error) =>
    ended.reject(new OwnerFailed('The work on a partition failed', { cause: error })),
  );
  let wasAssigned = false;
  const stop = () => ended.resolve();
  signal.addEventListener('abort', stop, { once: true });
  let membership: GroupMembership | undefined;
  try {
    membership = await GroupMembership.join(
      kafka,
      { group, topics: [topic], session: defaultSession },
      {
        onAssigned: (assigned) => {
          wasAssigned = true;
          owned.set(assigned.map(({ partition }) => partition));
        },
        onLost: stop,
      },
    );
    if (signal.aborted) stop();
    await ended.promise;
  } finally {
    signal.removeEventListener('abort', stop);
    // What is under way is finished before the group gives the partitions to others.
    await owned.close();
    await membership?.leave();
  }
  return wasAssigned;
}

/** Runs the work of exactly the partitions that are owned now; of one partition never twice at once. */
class OwnedPartitions {
  readonly #own: PartitionOwnership['own'];
  readonly #onFailure: (error: unknown) => void;
  readonly #running = new Map<number, AbortController>();
  readonly #done = new Map<number, Promise<void>>();

  constructor(own: PartitionOwnership['own'], onFailure: (error: unknown) => void) {
    this.#own = own;
    this.#onFailure = onFailure;
  }

  set(partitions: readonly number[]): void {
    for (const [partition, controller] of this.#running) {
      if (partitions.includes(partition)) continue;
      controller.abort();
      this.#running.delete(partition);
    }
    for (const partition of partitions) if (!this.#running.has(partition)) this.#start(partition);
  }

  async close(): Promise<void> {
    this.set([]);
    await Promise.all(this.#done.values());
  }

  #start(partition: number): void {
    const controller = new AbortController();
    this.#running.set(partition, controller);
    const before = this.#done.get(partition) ?? Promise.resolve();
    const work = before
      .then(() => (controller.signal.aborted ? undefined : this.#own(partition, controller.signal)))
      .catch(this.#onFailure);
    this.#done.set(partition, work);
  }
}
