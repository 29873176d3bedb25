import { partitionOf } from '#infra/kafka/partitioner.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import type { HistoryRecord } from './history.ts';

export const PARTITIONS = 3;

/** Records as they would be read from a log, in the order of the history. */
export function asRead(records: readonly HistoryRecord[]): readonly ReadRecord[] {
  const ends = new Map<string, number>();
  return records.map(({ topic, key, value }) => {
    const partition = partitionOf(key, PARTITIONS);
    const offset = ends.get(`${topic}/${partition}`) ?? 0;
    ends.set(`${topic}/${partition}`, offset + 1);
    return { topic, partition, offset, key, value, headers: {}, timestampMs: offset };
  });
}
