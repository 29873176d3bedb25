import type { Consumer } from 'kafkajs';
import type { Topic } from '#schemas/topics.ts';
import type { KafkaConnection } from './connection.ts';
import { KafkaUnavailable, reasonOf } from './kafka-failure.ts';
import type { TopicPartition } from './record.ts';

/** Session limits: a dead member's partitions are given to others after `sessionTimeoutMs`. */
export type SessionLimits = Readonly<{ sessionTimeoutMs: number; rebalanceTimeoutMs: number }>;

export const defaultSession: SessionLimits = { sessionTimeoutMs: 8_000, rebalanceTimeoutMs: 15_000 };

const HEARTBEAT_MS = 1_000;
/** How often the idle loop looks whether a heartbeat is due, and so how long a stop takes at most. */
const LOOP_MS = 200;
const JOIN_RETRY = { retries: 5, initialRetryTime: 100, maxRetryTime: 1_000 };

/** Calls of the membership; all are made from kafkajs's own loop and must not throw. */
export type MembershipListener = Readonly<{
  onAssigned: (assigned: readonly TopicPartition[]) => void;
  /** The group lets this member go: nothing is assigned any more, and a new membership is needed. */
  onLost: (reason: unknown) => void;
}>;

/**
 * One member of a consumer group that only owns partitions: kafkajs joins, beats and rejoins, and its own
 * fetching is paused for good (why, says `record-batches.ts`). What is assigned is read by a `LogFetcher`.
 */
export class GroupMembership {
  readonly #kafka: KafkaConnection;
  readonly #consumer: Consumer;
  #isLost = false;

  private constructor(kafka: KafkaConnection, consumer: Consumer) {
    this.#kafka = kafka;
    this.#consumer = consumer;
  }

  /** Joins the group. Rejects with `KafkaUnavailable`; after `onLost` make another one. */
  static async join(
    kafka: KafkaConnection,
    membership: {
      readonly group: string;
      readonly topics: readonly Topic[];
      readonly session: SessionLimits;
    },
    listener: MembershipListener,
  ): Promise<GroupMembership> {
    const { sessionTimeoutMs, rebalanceTimeoutMs } = membership.session;
    const consumer = kafka.client.consumer({
      groupId: kafka.scopedName(membership.group),
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: LOOP_MS,
      allowAutoTopicCreation: false,
      retry: { ...JOIN_RETRY, restartOnFailure: async () => false },
    });
    const self = new GroupMembership(kafka, consumer);
    self.#listen(membership.topics, listener);
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: membership.topics.map((topic) => kafka.topicName(topic)) });
      await consumer.run({ autoCommit: false, eachBatch: async () => undefined });
      return self;
    } catch (error) {
      await self.leave();
      throw new KafkaUnavailable(`Joining the consumer group ${membership.group} failed`, error);
    }
  }

  /** Commits offsets in the group, outside of any transaction. */
  async commit(offsets: readonly (TopicPartition & { readonly offset: number })[]): Promise<void> {
    try {
      await this.#consumer.commitOffsets(
        offsets.map(({ topic, partition, offset }) => ({
          topic: this.#kafka.topicName(topic),
          partition,
          offset: String(offset),
        })),
      );
    } catch (error) {
      throw new KafkaUnavailable(`Committing offsets failed`, error);
    }
  }

  /** Leaves the group, so that the others get the partitions at once. */
  async leave(): Promise<void> {
    this.#isLost = true;
    await this.#consumer.disconnect().catch(() => undefined);
  }

  #listen(topics: readonly Topic[], listener: MembershipListener): void {
    const { events } = this.#consumer;
    const topicOf = new Map(topics.map((topic) => [this.#kafka.topicName(topic), topic]));
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => {
      // Within this event kafkajs has not fetched yet, so it never will.
      this.#consumer.pause([...topicOf.keys()].map((topic) => ({ topic })));
      listener.onAssigned(
        Object.entries(payload.memberAssignment).flatMap(([name, partitions]) => {
          const topic = topicOf.get(name);
          return topic === undefined ? [] : partitions.map((partition) => ({ topic, partition }));
        }),
      );
    });
    this.#consumer.on(events.CRASH, ({ payload }) => {
      if (this.#isLost) return;
      this.#isLost = true;
      const fields = { reason: reasonOf(payload.error) };
      // A cluster's first group waits a moment for its coordinator; that is no trouble.
      const isExpected = 'type' in payload.error && payload.error.type === 'GROUP_LOAD_IN_PROGRESS';
      this.#kafka.log[isExpected ? 'info' : 'warn'](fields, 'A consumer group membership ended.');
      listener.onLost(payload.error);
    });
  }
}
