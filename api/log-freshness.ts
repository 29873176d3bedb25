import type { ProjectionWatch, RecordPosition } from '#infra/postgres/projection-watch.ts';
import type { Topic } from '#schemas/topics.ts';

/**
 * Whether the rows already hold everything that the log held when the question came: what a "no" out of
 * the rows needs before it may be told to a client.
 */

/** `behind`: rows are missing. `unknown`: the log cannot be reached, so nobody knows. */
export type Freshness = 'current' | 'behind' | 'unknown';

export type LogFreshness = Readonly<{
  /** Looks at the partition of `key`, or at the whole topic without one. */
  check(topic: Topic, key?: string): Promise<Freshness>;
  /** The last record of each partition of these topics. Rejects when the log cannot be reached. */
  lastRecords(topics: readonly Topic[]): Promise<readonly RecordPosition[]>;
}>;

const CATCH_UP_LIMIT_MS = 1_000;
const END_OFFSETS_LIMIT_MS = 1_500;

/** `endOffsets` and `partitionOf` are those of infra/kafka, bound to the cluster. */
export function logFreshness(options: {
  readonly endOffsets: (topic: Topic) => Promise<readonly number[]>;
  readonly partitionOf: (key: string, partitionCount: number) => number;
  readonly watch: Pick<ProjectionWatch, 'waitFor'>;
}): LogFreshness {
  const ends = new SharedReads(options.endOffsets);
  return {
    lastRecords: async (topics) =>
      (await Promise.all(topics.map(async (topic) => lastPositions(topic, await ends.read(topic))))).flat(),
    check: async (topic, key) => {
      const offsets = await within(ends.read(topic), END_OFFSETS_LIMIT_MS);
      if (offsets === undefined) return 'unknown';
      const last = lastPositions(topic, offsets);
      const wanted =
        key === undefined
          ? last
          : last.filter((at) => at.partition === options.partitionOf(key, offsets.length));
      return (await options.watch.waitFor(wanted, CATCH_UP_LIMIT_MS)) ? 'current' : 'behind';
    },
  };
}

const lastPositions = (topic: Topic, endOffsets: readonly number[]): readonly RecordPosition[] =>
  endOffsets
    .map((endOffset, partition) => ({ topic, partition, offset: endOffset - 1 }))
    .filter(({ offset }) => offset >= 0);

/**
 * One read per topic at a time. A question that comes while one is under way must not take its answer, which
 * may be older than the question: all that come meanwhile share the next one.
 */
class SharedReads {
  readonly #read: (topic: Topic) => Promise<readonly number[]>;
  readonly #running = new Map<Topic, Promise<readonly number[]>>();
  readonly #next = new Map<Topic, Promise<readonly number[]>>();

  constructor(read: (topic: Topic) => Promise<readonly number[]>) {
    this.#read = read;
  }

  read(topic: Topic): Promise<readonly number[]> {
    const next = this.#next.get(topic);
    if (next !== undefined) return next;
    const running = this.#running.get(topic);
    if (running === undefined) return this.#start(topic);
    const after = running.then(
      () => this.#startNext(topic),
      () => this.#startNext(topic),
    );
    this.#next.set(topic, after);
    return after;
  }

  #startNext(topic: Topic): Promise<readonly number[]> {
    this.#next.delete(topic);
    return this.#start(topic);
  }

  #start(topic: Topic): Promise<readonly number[]> {
    const run = this.#read(topic).finally(() => {
      if (this.#running.get(topic) === run) this.#running.delete(topic);
    });
    this.#running.set(topic, run);
    return run;
  }
}

/** What `promise` gives within the limit; undefined when it fails or takes longer. */
async function within<Value>(promise: Promise<Value>, limitMs: number): Promise<Value | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), limitMs);
  try {
    return await Promise.race([promise.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
