import { expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { committedOffsets } from '#infra/kafka/committed-offsets.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { readLog } from '#infra/kafka/log-reader.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { TransactionalWriter } from '#infra/kafka/transactional-writer.ts';
import { createLogger } from '#infra/log.ts';
import { until } from '../stack/poll.ts';
import { createTenant } from '../stack/tenant.ts';
import { faultSeed } from './fault-budget.ts';
import { openFaultProxy } from './kafka-fault-proxy.ts';
import { RandomFaults, strikesWanted } from './random-faults.ts';
import { seededRandom } from './seeded-random.ts';

const REQUEST_TIMEOUT_MS = 300;
const TRANSACTIONS = 150;
const LIMIT_MS = 120_000;
const PARTITIONS = [0, 1, 2];
const GROUP = 'atomicity';

test(`transactions over the partitions of a lane are whole or not there, whatever is struck (seed ${faultSeed})`, async () => {
  const config = parseConfig({ ...(await createTenant()).env, LOG_LEVEL: 'silent' });
  const log = createLogger(config, 'atomicity-test');
  const kafka = connectKafka(config, { clientId: 'atomicity-test', log });
  await ensureTopics(kafka, config);
  const faults = new RandomFaults(seededRandom(faultSeed), {
    chance: 0.08,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  const [host = '', port = ''] = (config.KAFKA_BROKERS?.[0] ?? '').split(':');
  const proxy = await openFaultProxy({ host, port: Number(port) }, (request) => faults.choose(request));
  const struck = connectKafka(config, {
    clientId: 'struck-writer',
    log,
    routeTo: proxy.routeTo,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  faults.begin();
  const writing = new NumberedTransactions(struck);
  const giveUpAt = Date.now() + LIMIT_MS;
  while (faults.struck.size < strikesWanted || writing.acknowledged.size < TRANSACTIONS) {
    expect(
      Date.now(),
      `only ${writing.acknowledged.size} written, ${[...faults.struck]} struck`,
    ).toBeLessThan(giveUpAt);
    await writing.writeNext();
  }
  faults.end();
  // Fences the writer before: what it left open is aborted, and can be read past.
  await writing.writeLast();
  await proxy.close();

  const [first = [], ...others] = await Promise.all(
    PARTITIONS.map((partition) => numbersIn(kafka, partition)),
  );
  expect(new Set(first).size).toBe(first.length);
  for (const other of others) expect(other).toEqual(first);
  expect([...writing.acknowledged].filter((number) => !first.includes(number))).toEqual([]);
  const last = PARTITIONS.map(() => first.at(-1));
  await until('the last transaction’s offsets are the group’s', 10_000, async () => {
    const offsets = [...(await committedOffsets(kafka, GROUP, 'wallet.commands')).values()];
    return String(offsets) === String(last) || undefined;
  });
});

/** Transactions that each write their number into all partitions, and commit it as an offset of each. */
class NumberedTransactions {
  readonly acknowledged = new Set<number>();
  readonly #kafka: KafkaConnection;
  #writer: TransactionalWriter | undefined;
  #number = 0;

  constructor(kafka: KafkaConnection) {
    this.#kafka = kafka;
  }

  /** Writes one more; with an error it may be in the log or not, and the next has a new writer. */
  async writeNext(): Promise<void> {
    const number = ++this.#number;
    try {
      this.#writer ??= await this.#open();
      const records = PARTITIONS.map((partition) => ({
        topic: 'wallet.events' as const,
        partition,
        key: String(number),
        value: Buffer.from(String(number)),
      }));
      const nextOffsets = new Map(PARTITIONS.map((partition) => [partition, number]));
      await this.#writer.write({
        records,
        consumed: { group: GROUP, topic: 'wallet.commands', nextOffsets },
      });
      this.acknowledged.add(number);
    } catch {
      await this.close();
    }
  }

  /** Writes until one is acknowledged, by a new writer. */
  async writeLast(): Promise<void> {
    await this.close();
    while (!this.acknowledged.has(this.#number)) await this.writeNext();
    await this.close();
  }

  async close(): Promise<void> {
    await this.#writer?.close();
    this.#writer = undefined;
  }

  #open(): Promise<TransactionalWriter> {
    return TransactionalWriter.open(this.#kafka, {
      transactionalId: 'atomicity',
      topics: ['wallet.events'],
      ownTopics: ['wallet.events'],
    });
  }
}

async function numbersIn(kafka: KafkaConnection, partition: number): Promise<readonly number[]> {
  const numbers: number[] = [];
  for await (const { records } of readLog(kafka, { topics: ['wallet.events'], partitions: [partition] }))
    numbers.push(...records.map(({ value }) => Number(value.toString())));
  return numbers;
}
