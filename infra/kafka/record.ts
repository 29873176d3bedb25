import type { Topic } from '#schemas/topics.ts';

/** A record to write. `value: null` is a tombstone; without `partition` the key decides. */
export type RecordToAppend = Readonly<{
  topic: Topic;
  key: string;
  value: Buffer | null;
  headers?: Readonly<Record<string, string>>;
  partition?: number;
}>;

/** A committed record as read. The value of a tombstone is empty; no record of ours is. */
export type ReadRecord = Readonly<{
  topic: Topic;
  partition: number;
  offset: number;
  key: string;
  value: Buffer;
  headers: Readonly<Record<string, string>>;
  timestampMs: number;
}>;

/** Where a record is in the log; `topic` is without the deployment's prefix. */
export type LogPosition = Readonly<{ topic: Topic; partition: number; offset: number }>;

export type TopicPartition = Readonly<{ topic: Topic; partition: number }>;
