import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { type EmbeddedStack, startEmbeddedStack } from '#infra/embedded/stack.ts';
import { openAppender } from '#infra/kafka/appender.ts';
import { connectKafka } from '#infra/kafka/connection.ts';
import { KafkaUnavailable } from '#infra/kafka/kafka-failure.ts';
import { readLog } from '#infra/kafka/log-reader.ts';
import type { LogPosition } from '#infra/kafka/record.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';

const REQUEST_TIMEOUT_MS = 1_000;
const FROZEN_MS = 3_000;
const FREEZES = 2;
const CALLERS = 30;
/** Enough records to be in every request, few enough to check in no time. */
const PAUSE_MS = 5;

let stack: EmbeddedStack;
let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'clipledger-frozen-'));
  stack = await startEmbeddedStack({ dataDir, parts: ['kafka'] });
});

afterAll(async () => {
  await stack?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test('a broker that freezes longer than a request may take loses and doubles no appended record', async () => {
  const config = parseConfig({ KAFKA_BROKERS: stack.kafkaBrokers.join(','), LOG_LEVEL: 'error' });
  const log = createLogger(config, 'frozen-broker');
  const kafka = connectKafka(config, {
    clientId: 'frozen-broker',
    log,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  await ensureTopics(kafka, config);
  const appender = await openAppender(kafka, { log });
  const acknowledged = new Map<string, LogPosition>();
  const unclear = new Set<string>();
  const stop = new AbortController();
  let count = 0;
  const appendOne = async () => {
    const key = String(count++);
    try {
      const [position] = await appender.append([{ topic: 'job.progress', key, value: Buffer.from(key) }]);
      if (position !== undefined) acknowledged.set(key, position);
    } catch (error) {
      expect(error).toBeInstanceOf(KafkaUnavailable);
      unclear.add(key);
    }
  };
  const calling = Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (!stop.signal.aborted) {
        await appendOne();
        await delay(PAUSE_MS);
      }
    }),
  );
  for (let freeze = 0; freeze < FREEZES; freeze++) {
    await delay(1_000);
    process.kill(stack.pids.kafka, 'SIGSTOP');
    await delay(FROZEN_MS);
    process.kill(stack.pids.kafka, 'SIGCONT');
  }
  await delay(1_500);
  stop.abort();
  await calling;
  await appender.close();

  const found = new Map<string, string[]>();
  for await (const { records } of readLog(kafka, { topics: ['job.progress'] }))
    for (const record of records) found.set(record.key, [...(found.get(record.key) ?? []), placeOf(record)]);
  const lost = [...acknowledged].filter(([key, place]) => !(found.get(key) ?? []).includes(placeOf(place)));
  const doubled = [...found].filter(([, places]) => places.length > 1);
  expect(lost).toEqual([]);
  expect(doubled).toEqual([]);
  expect(acknowledged.size).toBeGreaterThan(500);
  console.log(`${acknowledged.size} acknowledged, ${unclear.size} unclear, ${found.size} in the log`);
}, 120_000);

const placeOf = ({ partition, offset }: { partition: number; offset: number }): string =>
  `${partition}/${offset}`;
