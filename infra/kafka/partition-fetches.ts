import type { FetchedRecords, FetchFrom, FetchLimits, LogFetcher } from './log-fetcher.ts';
import type { TopicPartition } from './record.ts';

/** Fetches of some partitions, of which each broker may lead a few: one under way at every such broker. */
export class PartitionFetches {
  readonly #fetcher: Pick<LogFetcher, 'fetch' | 'leaderOf'>;
  readonly #limits: FetchLimits;
  readonly #byLeader: ReadonlyMap<number, readonly TopicPartition[]>;
  readonly #underWay = new Map<number, Promise<void>>();
  #answered: FetchedRecords[] = [];

  /** Throws `KafkaUnavailable` when a partition has no leader. */
  constructor(
    fetcher: Pick<LogFetcher, 'fetch' | 'leaderOf'>,
    partitions: readonly TopicPartition[],
    limits: FetchLimits,
  ) {
    this.#fetcher = fetcher;
    this.#limits = limits;
    this.#byLeader = Map.groupBy(partitions, (at) => fetcher.leaderOf(at));
  }

  /**
   * What has come since the last call, at most one chunk a partition; waits for the first broker to answer,
   * be it with nothing. `offsetOf` says where each partition goes on, after all that was handed out before.
   * Rejects as `LogFetcher.fetch` does, and then for good.
   */
  async next(offsetOf: (at: TopicPartition) => number): Promise<readonly FetchedRecords[]> {
    if (this.#answered.length === 0) {
      for (const [leader, led] of this.#byLeader)
        if (!this.#underWay.has(leader))
          this.#start(
            leader,
            led.map((at) => ({ ...at, offset: offsetOf(at) })),
          );
      await Promise.race(this.#underWay.values());
    }
    const answered = this.#answered;
    this.#answered = [];
    return answered;
  }

  #start(leader: number, from: readonly FetchFrom[]): void {
    const answer = this.#fetcher.fetch(from, this.#limits).then((chunks) => {
      this.#underWay.delete(leader);
      this.#answered.push(...chunks);
    });
    // One that fails while nobody waits is heard of at the next call.
    answer.catch(() => undefined);
    this.#underWay.set(leader, answer);
  }
}
