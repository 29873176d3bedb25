import { beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { openAppender } from '#infra/kafka/appender.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { endOffsets, readLog } from '#infra/kafka/log-reader.ts';
import { partitionOf } from '#infra/kafka/partitioner.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { TransactionalWriter, WriterFenced } from '#infra/kafka/transactional-writer.ts';
import type { Topic } from '#schemas/topics.ts';
import { tenantKafka } from './kafka-fixture.ts';

let kafka: KafkaConnection;

beforeAll(async () => {
  kafka = await tenantKafka();
});

async function valuesOf(topic: Topic): Promise<readonly string[]> {
  const values: string[] = [];
  for await (const { records } of readLog(kafka, { topics: [topic] }))
    for (const { value } of records) values.push(value.toString());
  return values;
}

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

  test('rejects appends once it is closed', async () => {
    const appender = await openAppender(kafka, { log: kafka.log });
    await appender.close();
    await expect(appender.append([{ topic: 'job.dead', key: 'k', value: null }])).rejects.toThrow(/closed/);
  });
});

describe('a transactional writer', () => {
  const topics: readonly Topic[] = ['team.events', 'wallet.events', 'wallet.replies'];

  test('shows all of a transaction or nothing, and its follow-up names the positions', async () => {
    const writer = await TransactionalWriter.open(kafka, { transactionalId: 'one', topics });
    const positions = await writer.write({
      records: [{ topic: 'team.events', partition: 1, key: '1', value: Buffer.from('event') }],
      followUp: {
        partitions: [{ topic: 'wallet.replies', partition: 0 }],
        records: ([at]) => [
          { topic: 'wallet.replies', partition: 0, key: 'r', value: Buffer.from(`at ${at?.offset}`) },
        ],
      },
    });
    await writer.close();
    expect(await valuesOf('team.events')).toEqual(['event']);
    expect(await valuesOf('wallet.replies')).toEqual([`at ${positions[0]?.offset}`]);
    expect((await endOffsets(kafka, 'team.events'))[1]).toBeGreaterThan(1);
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
    expect(await valuesOf('wallet.events')).toEqual(['first', 'second']);
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
