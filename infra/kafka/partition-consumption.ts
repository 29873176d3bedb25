import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaConnection } from './connection.ts';
import type { BatchControl, GroupConsumption } from './group-consumer.ts';
import { KafkaFailure, reasonOf } from './kafka-failure.ts';
import type { LogFeed } from './log-feed.ts';
import { type FetchedRecords, partitionBounds } from './log-fetcher.ts';
import type { OffsetCommitter } from './offset-committer.ts';
import type { TopicPartition } from './record.ts';

const RETRY_MS = { first: 200, most: 5_000 };

type Parts = Readonly<{
  kafka: KafkaConnection;
  consumption: GroupConsumption;
  feed: LogFeed;
  committer: OffsetCommitter;
  /** Where this member starts in the partition when the consumption does not say. */
  groupOffset: (at: TopicPartition) => Promise<number>;
}>;

/** The work on one assigned partition: batches one after another, until it is stopped. */
export class PartitionConsumption {
  readonly at: TopicPartition;
  readonly #parts: Parts;
  readonly #stopping = new AbortController();
  #position: number | undefined;
  #isOurs = true;

  constructor(at: TopicPartition, parts: Parts) {
    this.at = at;
    this.#parts = parts;
  }

  /** Makes its batch control stale; `run` ends when the handler in progress is done, and commits still count. */
  stop(): void {
    this.#stopping.abort();
  }

  /** As `stop`, but another member has the partition now: nothing is committed for it any more. */
  revoke(): void {
    this.#isOurs = false;
    this.#parts.committer.drop(this.at);
    this.#stopping.abort();
  }

  /** Works until stopped. Rejects only when the start offset cannot be in this log. */
  async run(): Promise<void> {
    const { signal } = this.#stopping;
    let waitMs = RETRY_MS.first;
    while (!signal.aborted) {
      try {
        await this.#consumeFrom(await this.#startOffset(), () => {
          waitMs = RETRY_MS.first;
        });
      } catch (error) {
        if (error instanceof KafkaFailure && !error.retryable) throw error;
        const { topic, partition } = this.at;
        this.#parts.kafka.log.warn(
          { group: this.#parts.consumption.group, topic, partition, err: error, reason: reasonOf(error) },
          'Handling a batch failed; it is delivered again.',
        );
        await delay(waitMs, undefined, { signal }).catch(() => undefined);
        waitMs = Math.min(waitMs * 2, RETRY_MS.most);
      }
    }
  }

  async #startOffset(): Promise<number> {
    const { consumption, groupOffset, kafka } = this.#parts;
    const elsewhere = await consumption.startOffset?.(this.at.topic, this.at.partition);
    if (elsewhere === undefined) return this.#position ?? (await groupOffset(this.at));
    const { end } = await partitionBounds(kafka, this.at);
    if (elsewhere <= end) return elsewhere;
    throw new KafkaFailure(
      'KAFKA_REFUSED',
      `Offset ${elsewhere} of ${this.at.topic} partition ${this.at.partition} is beyond the log's end, ${end}: ` +
        'this is not the log that the offset was recorded for. Check KAFKA_BROKERS and KAFKA_TOPIC_PREFIX.',
    );
  }

  async #consumeFrom(offset: number, onHandled: () => void): Promise<void> {
    const { feed, consumption } = this.#parts;
    const { signal } = this.#stopping;
    const subscription = feed.subscribe(this.at, offset);
    const close = () => subscription.close();
    signal.addEventListener('abort', close, { once: true });
    if (signal.aborted) close();
    const control: BatchControl = {
      pause: () => {
        subscription.pause();
        return () => subscription.resume();
      },
      commit: (nextOffset) => this.#commit(nextOffset),
      isStale: () => signal.aborted,
      signal,
    };
    try {
      for (let chunk = await subscription.next(); chunk !== undefined; chunk = await subscription.next()) {
        await this.#handle(chunk, consumption, control);
        onHandled();
      }
    } finally {
      signal.removeEventListener('abort', close);
      feed.unsubscribe(subscription);
    }
  }

  async #handle(chunk: FetchedRecords, consumption: GroupConsumption, control: BatchControl): Promise<void> {
    const { topic, partition, records, nextOffset, lastStableOffset } = chunk;
    if (records.length > 0) {
      await consumption.onBatch(
        { topic, partition, records, nextOffset, highWatermark: lastStableOffset },
        control,
      );
    }
    this.#position = nextOffset;
    consumption.onPosition?.(topic, partition, nextOffset);
    if (consumption.autoCommit) this.#commit(nextOffset);
  }

  #commit(nextOffset: number): void {
    if (this.#isOurs) this.#parts.committer.commit(this.at, nextOffset);
  }
}
