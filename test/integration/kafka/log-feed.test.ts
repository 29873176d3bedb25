import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Appender, openAppender } from '#infra/kafka/appender.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { type FeedSubscription, LogFeed } from '#infra/kafka/log-feed.ts';
import { tenantKafka } from './kafka-fixture.ts';

const at = { topic: 'job.progress', partition: 1 } as const;

let kafka: KafkaConnection;
let appender: Appender;
let feed: LogFeed;
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  kafka = await tenantKafka();
  appender = await openAppender(kafka, { log: kafka.log });
  stop = new AbortController();
  feed = new LogFeed(kafka, [at.topic], stop.signal);
  running = feed.run();
});

afterEach(async () => {
  stop.abort();
  await running;
  await appender.close();
});

const append = (from: number, to: number) =>
  appender.append(
    Array.from({ length: to - from }, (_, index) => ({
      ...at,
      key: String(from + index),
      value: Buffer.from('v'),
    })),
  );

const deleteBefore = (offset: number) =>
  kafka.admin(async (admin) => {
    const topic = kafka.topicName(at.topic);
    // kafkajs finds out who leads a topic's partitions only when it is asked for their offsets.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({
      topic,
      partitions: [{ partition: at.partition, offset: String(offset) }],
    });
  });

/** The offsets that come until the one before `end` has. */
async function offsetsUntil(subscription: FeedSubscription, end: number): Promise<readonly number[]> {
  const offsets: number[] = [];
  while (offsets.at(-1) !== end - 1) {
    const chunk = await subscription.next();
    if (chunk === undefined) throw new Error(`The subscription ended at ${offsets.at(-1)}.`);
    offsets.push(...chunk.records.map(({ offset }) => offset));
  }
  return offsets;
}

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

test('goes on at the beginning of what is kept when records were deleted before they were read', async () => {
  await append(0, 30);
  await deleteBefore(20);
  const subscription = feed.subscribe(at, 5);
  expect(await offsetsUntil(subscription, 30)).toEqual(range(20, 30));
  await append(30, 33);
  expect(await offsetsUntil(subscription, 33)).toEqual(range(30, 33));
});

test('passes over what is deleted while it is paused, and nothing else', async () => {
  await append(0, 10);
  const subscription = feed.subscribe(at, 0);
  expect(await offsetsUntil(subscription, 10)).toEqual(range(0, 10));
  subscription.pause();
  await append(10, 25);
  await deleteBefore(15);
  subscription.resume();
  // What was fetched before the pause took hold is delivered; what was not and is deleted cannot be.
  const offsets = await offsetsUntil(subscription, 25);
  expect(offsets.filter((offset) => offset >= 15)).toEqual(range(15, 25));
  expect([0, 5]).toContain(offsets.length - 10);
});
