import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { type LogChunk, readLog } from '#infra/kafka/log-reader.ts';
import type { TopicPartition } from '#infra/kafka/record.ts';
import type { Topic } from '#schemas/topics.ts';

/** Offsets by `topic/partition`. */
export type Offsets = ReadonlyMap<string, number>;

export const offsetKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

/**
 * Everything committed in `topics`, from `from` and up to `to` (or the end, as of the call), all partitions side
 * by side in about the order of time: events that belong together come close together, so that whoever
 * waits for the other half of something waits for little.
 */
export async function* readMerged(
  kafka: KafkaConnection,
  range: {
    readonly topics: readonly Topic[];
    readonly from?: Offsets | undefined;
    readonly to?: Offsets | undefined;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<LogChunk> {
  const streams = await Promise.all(
    (await partitionsOf(kafka, range.topics)).map((at) => open(kafka, at, range)),
  );
  try {
    for (let next = earliest(streams); next !== undefined; next = earliest(streams)) {
      const { head } = next;
      if (head !== undefined) yield head;
      await advance(next);
    }
  } finally {
    await Promise.all(streams.map(({ chunks }) => chunks.return(undefined)));
  }
}

type Stream = {
  readonly chunks: AsyncGenerator<LogChunk>;
  readonly end: number | undefined;
  head: LogChunk | undefined;
};

async function partitionsOf(
  kafka: KafkaConnection,
  topics: readonly Topic[],
): Promise<readonly TopicPartition[]> {
  const counts = await Promise.all(topics.map((topic) => kafka.partitionCount(topic)));
  return topics.flatMap((topic, index) =>
    Array.from({ length: counts[index] ?? 0 }, (_, partition) => ({ topic, partition })),
  );
}

async function open(
  kafka: KafkaConnection,
  at: TopicPartition,
  {
    from,
    to,
    signal,
  }: { readonly from?: Offsets | undefined; readonly to?: Offsets | undefined; readonly signal: AbortSignal },
): Promise<Stream> {
  const start = from?.get(offsetKey(at));
  const range = { topics: [at.topic], partitions: [at.partition], signal };
  const chunks = readLog(kafka, start === undefined ? range : { ...range, from: () => start });
  const stream: Stream = {
    chunks,
    end: to === undefined ? undefined : (to.get(offsetKey(at)) ?? 0),
    head: undefined,
  };
  if (stream.end === undefined || stream.end > (start ?? 0)) await advance(stream);
  return stream;
}

/** Takes the next chunk, cut at the stream's end; none when the end was reached. */
async function advance(stream: Stream): Promise<void> {
  const { end, head } = stream;
  stream.head = undefined;
  if (end !== undefined && head !== undefined && head.nextOffset >= end) return;
  const { value, done } = await stream.chunks.next();
  if (done === true || value === undefined) return;
  stream.head =
    end === undefined || value.nextOffset <= end
      ? value
      : { ...value, records: value.records.filter(({ offset }) => offset < end), nextOffset: end };
}

/** The stream whose next record is the oldest; chunks without records go first, as they hold nobody up. */
function earliest(streams: readonly Stream[]): Stream | undefined {
  let oldest: Stream | undefined;
  for (const stream of streams)
    if (stream.head !== undefined && (oldest === undefined || timeOf(stream) < timeOf(oldest)))
      oldest = stream;
  return oldest;
}

const timeOf = ({ head }: Stream): number => head?.records[0]?.timestampMs ?? 0;
