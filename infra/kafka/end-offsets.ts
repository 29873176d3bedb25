import type { Topic } from '#schemas/topics.ts';
import type { KafkaConnection } from './connection.ts';
import { LogFetcher } from './log-fetcher.ts';

/**
 * Asks again and again for the committed ends of topics, over connections that are kept: making them anew
 * takes several times as long as the question.
 */
export class EndOffsets {
  readonly #kafka: KafkaConnection;
  readonly #topics: readonly Topic[];
  #fetcher: Promise<LogFetcher> | undefined;
  #closed = false;

  constructor(kafka: KafkaConnection, topics: readonly Topic[]) {
    this.#kafka = kafka;
    this.#topics = topics;
  }

  /**
   * The committed end of each partition of a topic, by partition, as of a moment after this call. Rejects
   * with `KafkaUnavailable`; the next call connects anew then.
   */
  async read(topic: Topic): Promise<readonly number[]> {
    const kept = this.#fetcher;
    if (kept !== undefined) {
      try {
        return await (await kept).endOffsets(topic);
      } catch {
        // The broker may have closed it, or lead the partitions no longer: a new connection knows.
        this.#discard(kept);
      }
    }
    this.#fetcher ??= this.#open();
    const opened = this.#fetcher;
    try {
      return await (await opened).endOffsets(topic);
    } catch (error) {
      this.#discard(opened);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#fetcher !== undefined) await closeOnce(this.#fetcher);
  }

  async #open(): Promise<LogFetcher> {
    const fetcher = await LogFetcher.open(this.#kafka, this.#topics);
    if (this.#closed) await fetcher.close();
    return fetcher;
  }

  #discard(fetcher: Promise<LogFetcher>): void {
    if (this.#fetcher === fetcher) this.#fetcher = undefined;
    void closeOnce(fetcher);
  }
}

/** One that could not be opened has nothing to close. */
const closeOnce = (fetcher: Promise<LogFetcher>): Promise<void> =>
  fetcher.then(
    (opened) => opened.close(),
    () => undefined,
  );
