import type { Topic } from '#schemas/topics.ts';
import type { KafkaConnection } from './connection.ts';
import { type FetchFrom, LogFetcher } from './log-fetcher.ts';
import type { ReadRecord, TopicPartition } from './record.ts';

export { endOffsets, partitionBounds } from './log-fetcher.ts';

/** What to read: whole topics, or only some partitions of each; from the given offsets or the beginning. */
export type LogRange = Readonly<{
  topics: readonly Topic[];
  partitions?: readonly number[];
  from?: (at: TopicPartition) => number | undefined;
  signal?: AbortSignal;
}>;

/** Committed records of one partition, in order; `records` may be empty where only markers were passed. */
export type LogChunk = TopicPartition & Readonly<{ records: readonly ReadRecord[]; nextOffset: number }>;

const MAX_WAIT_MS = 500;

/**
 * Everything committed in these topics up to their end as of this call, partition after partition, then it
 * ends. Leaves nothing behind on the cluster. Rejects with a `KafkaFailure`.
 */
export async function* readLog(kafka: KafkaConnection, range: LogRange): AsyncGenerator<LogChunk> {
  const fetcher = await LogFetcher.open(kafka, range.topics);
  try {
    for (const { start, end } of await spans(fetcher, range)) {
      yield* readSpan(fetcher, start, end, range.signal);
    }
  } finally {
    await fetcher.close();
  }
}

type Span = Readonly<{ start: FetchFrom; end: number }>;

/** All ends are taken before anything is read, so that the chunks show one moment of the log. */
async function spans(fetcher: LogFetcher, range: LogRange): Promise<readonly Span[]> {
  const all: Span[] = [];
  for (const topic of range.topics) {
    const ends = await fetcher.endOffsets(topic);
    const beginnings = await fetcher.beginningOffsets(topic);
    for (const partition of range.partitions ?? fetcher.partitions(topic)) {
      const offset = range.from?.({ topic, partition }) ?? beginnings[partition] ?? 0;
      all.push({ start: { topic, partition, offset }, end: ends[partition] ?? 0 });
    }
  }
  return all;
}

/** The next fetch is under way while the caller works on a chunk. */
async function* readSpan(
  fetcher: LogFetcher,
  start: FetchFrom,
  end: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<LogChunk> {
  if (start.offset >= end) return;
  let upcoming = fetcher.fetch([start], { maxWaitMs: MAX_WAIT_MS });
  upcoming.catch(() => undefined);
  for (let offset = start.offset; offset < end; ) {
    signal?.throwIfAborted();
    const [chunk] = await upcoming;
    if (chunk === undefined) return;
    offset = chunk.nextOffset;
    if (offset < end) {
      upcoming = fetcher.fetch([{ ...start, offset }], { maxWaitMs: MAX_WAIT_MS });
      upcoming.catch(() => undefined);
    }
    const { topic, partition, records } = chunk;
    const upToEnd = offset <= end ? records : records.filter((record) => record.offset < end);
    yield { topic, partition, records: upToEnd, nextOffset: Math.min(offset, end) };
  }
}
