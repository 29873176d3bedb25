import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaConnection } from './connection.ts';
import type { GroupMembership } from './group-membership.ts';
import { reasonOf } from './kafka-failure.ts';
import type { TopicPartition } from './record.ts';

const RETRY_MS = 500;

/** Commits a group's offsets one request at a time; what comes meanwhile goes with the next. */
export class OffsetCommitter {
  readonly #kafka: KafkaConnection;
  #pending = new Map<string, TopicPartition & { readonly offset: number }>();
  #membership: GroupMembership | undefined;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(kafka: KafkaConnection) {
    this.#kafka = kafka;
  }

  use(membership: GroupMembership): void {
    this.#membership = membership;
    this.#start();
  }

  commit(at: TopicPartition, offset: number): void {
    this.#pending.set(keyOf(at), { ...at, offset });
    this.#start();
  }

  /** Forgets what waits for a partition that another member has now: it may be further on already. */
  drop(at: TopicPartition): void {
    this.#pending.delete(keyOf(at));
  }

  /** Tries once more to commit what waits; what cannot be committed is done again by the next owner. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    if (this.#pending.size > 0) await this.#commitPending();
  }

  #start(): void {
    if (this.#membership === undefined || this.#closed) return;
    this.#running ??= this.#commitAll().finally(() => {
      this.#running = undefined;
    });
  }

  async #commitAll(): Promise<void> {
    while (this.#pending.size > 0) {
      const isCommitted = await this.#commitPending();
      if (this.#closed) return;
      if (!isCommitted) await delay(RETRY_MS);
    }
  }

  async #commitPending(): Promise<boolean> {
    const sent = this.#pending;
    this.#pending = new Map();
    try {
      await this.#membership?.commit([...sent.values()]);
      return true;
    } catch (error) {
      this.#kafka.log.debug({ reason: reasonOf(error) }, 'Committing offsets failed; trying again.');
      this.#pending = new Map([...sent, ...this.#pending]);
      return false;
    }
  }
}

const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;
