import { beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { openAppender } from '#infra/kafka/appender.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { endOffsets, readLog } from '#infra/kafka/log-reader.ts';
import { partitionOf } from '#infra/kafka/partitioner.ts';
import type { LogPosition, ReadRecord } from '#infra/kafka/record.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import {
  TransactionalWriter,
  type TransactionContent,
  WriterFenced,
} from '#infra/kafka/transactional-writer.ts';
import type { Topic } from '#schemas/topics.ts';
import { until } from '../../stack/poll.ts';
import { tenantKafka } from './kafka-fixture.ts';

let kafka: KafkaConnection;

beforeAll(async () => {
  kafka = await tenantKafka();
});

async function readAll(topic: Topic): Promise<readonly ReadRecord[]> {
  const all: ReadRecord[] = [];
  for await (const { records } of readLog(kafka, { topics: [topic] })) all.push(...records);
  return all;
}

/** The topic's values once there are so many: a transaction shows moments after its commit was answered. */
const valuesOf = (topic: Topic, count: number): Promise<readonly string[]> =>
  until(`${count} records in ${topic}`, 10_000, async () => {
    const records = await readAll(topic);
    return records.length < count ? undefined : records.map(({ value }) => value.toString());
  });

describe('the appender', () => {
  test('says where each record is, whoever appended it together with whom', async () => {
    const appender = await openAppender(kafka, { log: kafka.log });
    const appended = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        appender.append([
          {
            topic: 'job.progress',
            key: `a${index}`,
            value: Buffer.from(`a${index}`),
            headers: { n: `${index}` },
          },
          { topic: 'job.dead', key: `b${index}`, value: Buffer.from(`b${index}`) },
        ]),
      ),
    );
    await appender.close();
    const found = new Map<string, string>();
    for await (const { records } of readLog(kafka, { topics: ['job.progress', 'job.dead'] }))
      for (const { topic, partition, offset, key } of records)
        found.set(key, `${topic}/${partition}/${offset}`);
    for (const [index, [a, b]] of appended.entries()) {
      expect(found.get(`a${index}`)).toBe(`${a?.topic}/${a?.partition}/${a?.offset}`);
      expect(found.get(`b${index}`)).toBe(`${b?.topic}/${b?.partition}/${b?.offset}`);
      expect(a?.partition).toBe(partitionOf(`a${index}`, 3));
    }
  });

  test('sends what is appended in the very moment in which the append before is answered', async () => {
    const appender = await openAppender(kafka, { log: kafka.log });
    const record = { topic: 'job.dead', key: 'k', value: Buffer.from('follows') } as const;
    for (let turns = 0; turns < 12; turns += 1) {
      await appender.append([record]);
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      expect(await appender.append([record])).toHaveLength(1);
    }
    await appender.close();
  });

  test('rejects appends once it is closed', async () => {
    const appender = await openAppender(kafka, { log: kafka.log });
    await appender.close();
    await expect(appender.append([{ topic: 'job.dead', key: 'k', value: null }])).rejects.toThrow(/closed/);
  });
});

describe('a transactional writer', () => {
  const topics: readonly Topic[] = ['team.events', 'wallet.events', 'job.events', 'wallet.replies'];

  beforeAll(() =>
    // A new broker makes the log of its transactions at the first request for it, which has to be repeated.
    until('transactions are coordinated', 30_000, async () => {
      try {
        const writer = await TransactionalWriter.open(kafka, { transactionalId: 'zero', topics });
        await writer.close();
        return true;
      } catch {
        return undefined;
      }
    }),
  );

  test('shows all of a transaction or nothing, and names positions where only it writes', async () => {
    const writer = await TransactionalWriter.open(kafka, {
      transactionalId: 'one',
      topics,
      ownTopics: ['team.events'],
    });
    const event = { topic: 'team.events', partition: 1, key: '1', value: Buffer.from('event') } as const;
    const shared = { topic: 'job.events', partition: 1, key: '1', value: Buffer.from('shared') } as const;
    const reply = (at: LogPosition | undefined, to: LogPosition | undefined) => ({
      topic: 'wallet.replies' as const,
      partition: 0,
      key: 'r',
      value: Buffer.from(`at ${at?.offset}, ${to?.offset}`),
    });
    const naming: TransactionContent['naming'] = ([at, to]) => [reply(at, to)];
    await writer.write({ records: [event, shared], naming });
    const positions = await writer.write({ records: [event, shared], naming });
    const later = await writer.write({ records: [shared, event, event], naming });
    await writer.close();
    expect(await valuesOf('team.events', 4)).toEqual(['event', 'event', 'event', 'event']);
    expect(await valuesOf('wallet.replies', 3)).toEqual([
      'at undefined, undefined',
      `at ${positions[0]?.offset}, undefined`,
      `at undefined, ${later[1]?.offset}`,
    ]);
    const logged = await readAll('team.events');
    expect(logged.map(({ offset }) => offset).slice(1)).toEqual([
      positions[0]?.offset,
      later[1]?.offset,
      later[2]?.offset,
    ]);
    expect((await endOffsets(kafka, 'team.events'))[1]).toBeGreaterThan(1);
  });

  test('commits nothing that names a position where somebody else has written', async () => {
    const writer = await TransactionalWriter.open(kafka, {
      transactionalId: 'three',
      topics,
      ownTopics: ['team.events'],
    });
    const event = { topic: 'team.events', partition: 2, key: '2', value: Buffer.from('owned') } as const;
    await writer.write({ records: [event] });
    const appender = await openAppender(kafka, { log: kafka.log });
    await appender.append([{ ...event, value: Buffer.from('intruder') }]);
    await appender.close();
    await expect(writer.write({ records: [{ ...event, value: Buffer.from('misnamed') }] })).rejects.toThrow(
      /who writes there/,
    );
    await writer.close();
    const next = await TransactionalWriter.open(kafka, { transactionalId: 'three', topics });
    await next.close();
    const values = (await readAll('team.events')).filter(({ partition }) => partition === 2);
    expect(values.map(({ value }) => value.toString())).toEqual(['owned', 'intruder']);
  });

  test('is fenced by the next one with its id, for good', async () => {
    const first = await TransactionalWriter.open(kafka, { transactionalId: 'two', topics });
    const record = { topic: 'wallet.events', partition: 0, key: '1', value: Buffer.from('first') } as const;
    await first.write({ records: [record] });
    const second = await TransactionalWriter.open(kafka, { transactionalId: 'two', topics });
    await expect(first.write({ records: [{ ...record, value: Buffer.from('zombie') }] })).rejects.toThrow(
      WriterFenced,
    );
    await expect(first.write({ records: [record] })).rejects.toThrow(/ended/);
    await second.write({ records: [{ ...record, value: Buffer.from('second') }] });
    await Promise.all([first.close(), second.close()]);
    expect(await valuesOf('wallet.events', 2)).toEqual(['first', 'second']);
  });
});

describe('topic set-up', () => {
  test('may run in several processes at once, and again', async () => {
    const settings = { KAFKA_TOPIC_PROFILE: 'embedded' } as const;
    await Promise.all([ensureTopics(kafka, settings as never), ensureTopics(kafka, settings as never)]);
  });

  test('refuses a cluster whose counts are other than the profile says, and names them', async () => {
    const production = parseConfig({ KAFKA_TOPIC_PROFILE: 'production' });
    await expect(ensureTopics(kafka, production)).rejects.toThrow(/wallet\.events has 3, expected 24/);
  });
});
