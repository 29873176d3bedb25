import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Appender, openAppender } from '#infra/kafka/appender.ts';
import { committedOffsets } from '#infra/kafka/committed-offsets.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { consumeGroup, type GroupConsumption } from '#infra/kafka/group-consumer.ts';
import { endOffsets } from '#infra/kafka/log-reader.ts';
import { TransactionalWriter } from '#infra/kafka/transactional-writer.ts';
import { until } from '../../stack/poll.ts';
import { tenantKafka } from './kafka-fixture.ts';

const LIMIT_MS = 60_000;

let kafka: KafkaConnection;
let appender: Appender;
let running: { readonly stop: AbortController; readonly done: Promise<void> }[];

beforeEach(async () => {
  kafka = await tenantKafka();
  appender = await openAppender(kafka, { log: kafka.log });
  running = [];
});

afterEach(async () => {
  for (const { stop } of running) stop.abort();
  await Promise.allSettled(running.map(({ done }) => done));
  await appender.close();
});

function consume(options: Partial<GroupConsumption> & Pick<GroupConsumption, 'onBatch'>) {
  const stop = new AbortController();
  const done = consumeGroup(kafka, {
    group: 'g',
    topics: ['job.events'],
    fromBeginning: true,
    autoCommit: true,
    signal: stop.signal,
    ...options,
  });
  done.catch(() => undefined);
  const consumer = { stop, done };
  running.push(consumer);
  return consumer;
}

const append = (from: number, count: number) =>
  appender.append(
    Array.from({ length: count }, (_, index) => ({
      topic: 'job.events' as const,
      key: String(from + index),
      value: Buffer.from(String(from + index)),
    })),
  );

const numbers = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => String(index)).sort();

test('delivers everything once, and the next member goes on where the last one stopped', async () => {
  await append(0, 100);
  const seen: string[] = [];
  const onBatch: GroupConsumption['onBatch'] = async ({ records }) => {
    for (const { key } of records) seen.push(key);
  };
  const first = consume({ onBatch });
  await until('all is seen', LIMIT_MS, () => seen.length >= 100 || undefined);
  first.stop.abort();
  await first.done;
  await append(100, 50);
  consume({ onBatch });
  await until('the rest is seen', LIMIT_MS, () => seen.length >= 150 || undefined);
  expect(seen.toSorted()).toEqual(numbers(150));
});

test('members share the partitions, and a member that leaves hands over its own', async () => {
  const seenBy: [Set<number>, Set<number>] = [new Set(), new Set()];
  const member = (index: 0 | 1) =>
    consume({
      onBatch: async () => undefined,
      onAssigned: (assigned) => {
        for (const { partition } of assigned) seenBy[index].add(partition);
      },
      onRevoked: (revoked) => {
        for (const { partition } of revoked) seenBy[index].delete(partition);
      },
    });
  const first = member(0);
  await until('the first has all', LIMIT_MS, () => seenBy[0].size === 3 || undefined);
  member(1);
  await until('both have some', LIMIT_MS, () => (seenBy[0].size < 3 && seenBy[1].size > 0) || undefined);
  first.stop.abort();
  await until('the second has all', LIMIT_MS, () => seenBy[1].size === 3 || undefined);
});

test('a batch whose handler fails is delivered again, and its offset is not committed before', async () => {
  await append(0, 10);
  let failures = 0;
  const seen: string[] = [];
  const consumer = consume({
    onBatch: async ({ records }) => {
      if (failures++ < 4) throw new Error('not yet');
      for (const { key } of records) seen.push(key);
    },
  });
  await until('all is handled', LIMIT_MS, () => seen.length >= 10 || undefined);
  consumer.stop.abort();
  await consumer.done;
  expect(seen.toSorted()).toEqual(numbers(10));
  const ends = await endOffsets(kafka, 'job.events');
  const committed = await committedOffsets(kafka, 'g', 'job.events');
  for (const [partition, offset] of committed) expect(offset).toBe(ends[partition]);
});

test('positions get past the markers of transactions, up to the very end', async () => {
  const writer = await TransactionalWriter.open(kafka, { transactionalId: 't', topics: ['job.events'] });
  for (let index = 0; index < 3; index++)
    await writer.write({
      records: [{ topic: 'job.events', partition: index, key: 'k', value: Buffer.from('v') }],
    });
  await writer.close();
  const positions = new Map<number, number>();
  consume({
    onBatch: async () => undefined,
    onPosition: (_topic, partition, nextOffset) => positions.set(partition, nextOffset),
  });
  await until('all ends are reached', LIMIT_MS, async () => {
    const ends = await endOffsets(kafka, 'job.events');
    return ends.every((end, partition) => positions.get(partition) === end && end >= 2) || undefined;
  });
});

test('a paused partition delivers nothing until it is resumed, and its offsets are the handler’s to commit', async () => {
  await append(0, 1);
  const seen: string[] = [];
  let resume = () => undefined as undefined;
  let commit: (nextOffset: number) => void = () => undefined;
  const consumer = consume({
    autoCommit: false,
    onBatch: async ({ records, nextOffset }, control) => {
      for (const { key } of records) seen.push(key);
      const resumePartition = control.pause();
      resume = () => void resumePartition() as undefined;
      commit = () => control.commit(nextOffset);
    },
  });
  await until('the first is seen', LIMIT_MS, () => seen.length === 1 || undefined);
  const [first] = await append(0, 1);
  expect(seen).toEqual(['0']);
  resume();
  await until('the second is seen', LIMIT_MS, () => seen.length === 2 || undefined);
  commit(0);
  consumer.stop.abort();
  await consumer.done;
  const committed = await committedOffsets(kafka, 'g', 'job.events');
  expect(committed.get(first?.partition ?? -1)).toBe((first?.offset ?? 0) + 1);
});

test('an offset from elsewhere that lies beyond the log’s end is refused', async () => {
  const { done } = consume({ onBatch: async () => undefined, startOffset: async () => 1_000 });
  await expect(done).rejects.toThrow(/beyond the log's end/);
});
