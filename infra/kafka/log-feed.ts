import { setTimeout as delay } from 'node:timers/promises';
import type { Topic } from '#schemas/topics.ts';
import type { Logger } from '../log.ts';
import type { KafkaConnection } from './connection.ts';
import { reasonOf } from './kafka-failure.ts';
import { type FetchedRecords, type FetchFrom, LogFetcher, OffsetOutOfRange } from './log-fetcher.ts';
import type { TopicPartition } from './record.ts';
import { Wakeup } from './wakeup.ts';

/** New subscriptions and resumed ones wait for the fetch that is under way, so it must not be long. */
const MAX_WAIT_MS = 250;
/** Fetched and not yet taken, per partition: one to work on while the next is on its way. */
const QUEUED_CHUNKS = 2;
const REOPEN_MS = { first: 100, most: 3_000 };

/**
 * Follows many partitions with one fetch at a time per broker, and hands each partition's chunks to its
 * subscription. Broken connections are made anew; nothing is skipped or repeated by that.
 */
export class LogFeed {
  readonly #kafka: KafkaConnection;
  readonly #topics: readonly Topic[];
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #subscriptions = new Set<FeedSubscription>();
  readonly #changed = new Wakeup();

  constructor(kafka: KafkaConnection, topics: readonly Topic[], signal: AbortSignal) {
    this.#kafka = kafka;
    this.#topics = topics;
    this.#log = kafka.log;
    this.#signal = signal;
  }

  /** Follows one partition from `offset` on until the subscription is closed. */
  subscribe(at: TopicPartition, offset: number): FeedSubscription {
    const subscription = new FeedSubscription(at, offset, () => this.#changed.wake());
    this.#subscriptions.add(subscription);
    this.#changed.wake();
    return subscription;
  }

  unsubscribe(subscription: FeedSubscription): void {
    subscription.close();
    this.#subscriptions.delete(subscription);
  }

  /** Fetches until the signal aborts. */
  async run(): Promise<void> {
    const wake = () => this.#changed.wake();
    this.#signal.addEventListener('abort', wake, { once: true });
    let waitMs = REOPEN_MS.first;
    while (!this.#signal.aborted) {
      try {
        await this.#runConnected(() => {
          waitMs = REOPEN_MS.first;
        });
      } catch (error) {
        this.#log.warn({ reason: reasonOf(error) }, 'Reading from Kafka broke; connecting again.');
        await delay(waitMs, undefined, { signal: this.#signal }).catch(() => undefined);
        waitMs = Math.min(waitMs * 2, REOPEN_MS.most);
      }
    }
  }

  async #runConnected(onSuccess: () => void): Promise<void> {
    const fetcher = await LogFetcher.open(this.#kafka, this.#topics);
    const broken = new AbortController();
    const leaders = new Set(
      this.#topics.flatMap((topic) =>
        fetcher.partitions(topic).map((partition) => fetcher.leaderOf({ topic, partition })),
      ),
    );
    try {
      await Promise.all(
        [...leaders].map((leader) => this.#follow(fetcher, leader, broken.signal, onSuccess)),
      );
    } finally {
      broken.abort();
      this.#changed.wake();
      await fetcher.close();
    }
  }

  async #follow(
    fetcher: LogFetcher,
    leader: number,
    broken: AbortSignal,
    onSuccess: () => void,
  ): Promise<void> {
    while (!this.#signal.aborted && !broken.aborted) {
      const wanting = [...this.#subscriptions].filter(
        (subscription) => subscription.wants && fetcher.leaderOf(subscription.at) === leader,
      );
      if (wanting.length === 0) {
        await this.#changed.next();
        continue;
      }
      const from = wanting.map(({ at, offset }) => ({ ...at, offset }));
      const chunks = await this.#fetch(fetcher, from);
      onSuccess();
      for (const chunk of chunks) {
        const index = from.findIndex(
          ({ topic, partition }) => topic === chunk.topic && partition === chunk.partition,
        );
        wanting[index]?.offer(chunk, from[index]?.offset ?? 0);
      }
    }
  }

  /** Where retention was faster than the reader, nothing is left to read before the log's beginning. */
  async #fetch(fetcher: LogFetcher, from: readonly FetchFrom[]): Promise<readonly FetchedRecords[]> {
    try {
      return await fetcher.fetch(from, { maxWaitMs: MAX_WAIT_MS });
    } catch (error) {
      if (!(error instanceof OffsetOutOfRange)) throw error;
      const { topic, partition, offset } = error.at;
      const beginning = (await fetcher.beginningOffsets(topic))[partition] ?? 0;
      if (beginning <= offset) throw error;
      this.#log.warn(
        { topic, partition, offset, beginning },
        'Records were deleted before they were read; reading goes on at the beginning of what is kept.',
      );
      return [{ topic, partition, records: [], nextOffset: beginning, lastStableOffset: beginning }];
    }
  }
}

/** One partition's chunks, in order. */
export class FeedSubscription {
  readonly at: TopicPartition;
  /** Where the next fetch begins. */
  offset: number;
  readonly #queue: FetchedRecords[] = [];
  readonly #arrived = new Wakeup();
  readonly #onChange: () => void;
  #paused = false;
  #closed = false;

  constructor(at: TopicPartition, offset: number, onChange: () => void) {
    this.at = at;
    this.offset = offset;
    this.#onChange = onChange;
  }

  get wants(): boolean {
    return !this.#closed && !this.#paused && this.#queue.length < QUEUED_CHUNKS;
  }

  /** The next chunk; undefined once closed. Waits while paused. */
  async next(): Promise<FetchedRecords | undefined> {
    while (!this.#closed) {
      const chunk = this.#paused ? undefined : this.#queue.shift();
      if (chunk !== undefined) {
        this.#onChange();
        return chunk;
      }
      await this.#arrived.next();
    }
    return undefined;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#arrived.wake();
    this.#onChange();
  }

  close(): void {
    this.#closed = true;
    this.#arrived.wake();
  }

  /** Takes what a fetch from `fetchedFrom` brought, unless the subscription is elsewhere by now. */
  offer(chunk: FetchedRecords, fetchedFrom: number): void {
    if (this.#closed || fetchedFrom !== this.offset || chunk.nextOffset <= fetchedFrom) return;
    this.offset = chunk.nextOffset;
    this.#queue.push(chunk);
    this.#arrived.wake();
  }
}
