import pg from 'pg';
import type { TopicPartition } from '#infra/kafka/record.ts';
import type { Logger } from '#infra/log.ts';
import { joinEvents, type ProjectedEvents } from './decode-records.ts';
import { positionKey } from './positions.ts';
import { applySeconds, batches as batchCounter } from './projector-metrics.ts';
import { type PartitionBatch, PositionsMoved, writeBatch } from './write-batch.ts';

/** Roughly what one transaction holds; one chunk from Kafka is about a third of it. */
const EVENTS_PER_TRANSACTION = 10_000;

type Waiting = Readonly<{
  at: TopicPartition;
  events: ProjectedEvents;
  eventCount: number;
  nextOffset: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}>;

/**
 * Writes what the partitions of this projector bring, one transaction at a time: whatever has come in while
 * one is written goes together with the next. So a busy projector writes few, large transactions and an
 * idle one answers at once.
 */
export class ProjectionWriter {
  readonly #pool: pg.Pool;
  readonly #log: Logger;
  /** Where this projector left each partition that it owns: the offset that must be in the database. */
  readonly #owned = new Map<string, number>();
  #queue: Waiting[] = [];
  #writing: Promise<void> | undefined;

  constructor(pool: pg.Pool, log: Logger) {
    this.#pool = pool;
    this.#log = log;
  }

  /** From now on this projector writes the partition, whose recorded position is `nextOffset`. */
  own(at: TopicPartition, nextOffset: number): void {
    this.#owned.set(positionKey(at), nextOffset);
  }

  disown(at: TopicPartition): void {
    this.#owned.delete(positionKey(at));
  }

  /** The partitions that it owns, and where it left them. */
  get owned(): ReadonlyMap<string, number> {
    return this.#owned;
  }

  /** Up to where the partition's records are rows; undefined when this projector does not own it. */
  nextOffset(at: TopicPartition): number | undefined {
    return this.#owned.get(positionKey(at));
  }

  /**
   * Resolves once the events are rows and the position is `nextOffset`. Rejects when they are not, or when
   * that is not known: then the partition is no longer owned, and its position must be read again.
   */
  write(at: TopicPartition, events: ProjectedEvents, nextOffset: number): Promise<void> {
    const eventCount = countEvents(events);
    return new Promise((resolve, reject) => {
      this.#queue.push({ at, events, eventCount, nextOffset, resolve, reject });
      this.#writing ??= this.#writeAll().finally(() => {
        this.#writing = undefined;
      });
    });
  }

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // One turn of the event loop lets partitions that were fetched together go together.
    await new Promise(setImmediate);
    while (this.#queue.length > 0) await this.#writeTogether(this.#take());
  }

  #take(): readonly Waiting[] {
    let events = 0;
    let count = 0;
    while (count < this.#queue.length && (count === 0 || events < EVENTS_PER_TRANSACTION)) {
      events += this.#queue[count]?.eventCount ?? 0;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  async #writeTogether(waiting: readonly Waiting[]): Promise<void> {
    const batches = this.#batchesOf(waiting);
    if (batches.length === 0) return;
    const stopTimer = applySeconds.startTimer();
    try {
      await writeBatch(this.#pool, batches, this.#log);
      batchCounter.inc();
    } catch (error) {
      return this.#afterFailure(waiting, error);
    } finally {
      stopTimer();
    }
    for (const batch of batches) this.#owned.set(positionKey(batch), batch.nextOffset);
    for (const { resolve } of waiting) resolve();
  }

  /** One batch per partition; what was handed in for partitions that are not owned any more is rejected. */
  #batchesOf(waiting: readonly Waiting[]): readonly PartitionBatch[] {
    const byPartition = Map.groupBy(waiting, ({ at }) => positionKey(at));
    return [...byPartition].flatMap(([key, parts]) => {
      const fromOffset = this.#owned.get(key);
      const [first] = parts;
      if (fromOffset === undefined || first === undefined) {
        for (const { reject } of parts) reject(new PositionsMoved(new Set([key])));
        return [];
      }
      const nextOffset = Math.max(fromOffset, ...parts.map((part) => part.nextOffset));
      const { topic, partition } = first.at;
      return {
        topic,
        partition,
        fromOffset,
        nextOffset,
        events: joinEvents(parts.map(({ events }) => events)),
      };
    });
  }

  async #afterFailure(waiting: readonly Waiting[], error: unknown): Promise<void> {
    const isAlone = waiting.length === 1;
    if (error instanceof PositionsMoved) {
      const [moved, others] = partitionBy(waiting, ({ at }) => error.keys.has(positionKey(at)));
      this.#giveUp(moved, error);
      this.#queue.unshift(...others);
    } else if (isDataError(error) && !isAlone) {
      // One partition brings what the database refuses; the others go on without it.
      for (const one of waiting) await this.#writeTogether([one]);
    } else {
      this.#giveUp(waiting, error);
    }
  }

  #giveUp(waiting: readonly Waiting[], error: unknown): void {
    for (const { at, reject } of waiting) {
      this.disown(at);
      reject(error);
    }
  }
}

const countEvents = (events: ProjectedEvents): number =>
  events.teamEvents.length + events.walletEvents.length + events.jobEvents.length + events.progress.length;

/** Postgres's classes 22 (data exception) and 23 (integrity constraint violation). */
const isDataError = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && /^2[23]/.test(error.code ?? '');

function partitionBy<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
