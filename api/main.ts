import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '#infra/config.ts';
import { resolveConfig } from '#infra/embedded/resolve-config.ts';
import { openAppender } from '#infra/kafka/appender.ts';
import { connectKafka } from '#infra/kafka/connection.ts';
import { KafkaFailure } from '#infra/kafka/kafka-failure.ts';
import { endOffsets } from '#infra/kafka/log-reader.ts';
import { partitionOf } from '#infra/kafka/partitioner.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { openPool } from '#infra/postgres/pool.ts';
import { watchProjection } from '#infra/postgres/projection-watch.ts';
import { buildServer } from './http/server.ts';
import { LateLedger } from './late-ledger.ts';
import { runLedger } from './ledger/ledger.ts';
import { LedgerClient } from './ledger/ledger-client.ts';
import { logFreshness } from './log-freshness.ts';
import { checkReadiness } from './readiness.ts';
import { watchDeadlines } from './settlement/deadline.ts';
import { runSettlement } from './settlement/run-settlement.ts';

/** The api process: HTTP, the ledger, the settlement of charges and the deadlines of jobs. */

const KAFKA_RETRY_MS = 1_000;
/** Requests in progress get this long to end; each is bounded by less. */
const DRAIN_LIMIT_MS = 10_000;

const stopIntake = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stopIntake.abort());

await run(stopIntake.signal).catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = 1;
});
process.exit();

async function run(stopping: AbortSignal): Promise<void> {
  const config = await resolveConfig(process.env, ['KAFKA_BROKERS', 'DATABASE_URL']);
  const log = createLogger(config, 'api');
  const now = () => new Date();
  const work = new AbortController();
  const { signal } = work;

  const pool = openPool(config, log, 'clipledger-api');
  const storage = ObjectStorage.connect(storageSettings(config));
  const kafka = connectKafka(config, { clientId: 'clipledger-api', log });
  const watch = watchProjection({ config, log, signal });
  const freshness = logFreshness({ endOffsets: (topic) => endOffsets(kafka, topic), partitionOf, watch });
  const ledger = new LateLedger();
  const readiness = () => checkReadiness({ ledger, pool, watch });
  const server = buildServer({ config, log, pool, ledger, watch, freshness, storage, readiness, now });
  const address = await server.listen({ host: config.HOST, port: config.PORT });
  log.info({ address }, 'The API listens.');

  const parts = startParts().catch(fail);
  await aborted(stopping);
  log.info('The API stops: no new requests, what runs is finished.');
  await Promise.race([server.close(), delay(DRAIN_LIMIT_MS)]);
  work.abort();
  await parts;
  await ledger.close();
  await watch.close();
  await pool.end();
  storage.close();
  log.info('The API has stopped.');

  /** Everything that needs Kafka; each part heals by itself once it runs. */
  async function startParts(): Promise<void> {
    await whenKafkaAnswers(() => ensureTopics(kafka, config));
    const running = [runLedger({ kafka, config, log, signal }).catch(fail)];
    const client = await whenKafkaAnswers(() => LedgerClient.connect({ kafka, log, signal }));
    if (client !== undefined) ledger.connected(client);
    const { REFUND_FAILED_CLIPS: refundFailedClips, JOB_DEADLINE: jobDeadlineMs } = config;
    running.push(runSettlement(kafka, { ledger, refundFailedClips, log, now }, signal).catch(fail));
    const appender = await whenKafkaAnswers(() => openAppender(kafka, { log }));
    if (appender !== undefined)
      running.push(watchDeadlines({ pool, appender, freshness, log, now, jobDeadlineMs }, signal));
    await Promise.all(running);
    await appender?.close();
  }

  function fail(error: unknown): void {
    log.fatal({ err: error }, 'A part of the API failed for good; the process ends.');
    process.exitCode = 1;
    stopIntake.abort();
  }

  /** What `connect` gives, tried until Kafka is there; undefined when the process is to stop first. */
  async function whenKafkaAnswers<Value>(connect: () => Promise<Value>): Promise<Value | undefined> {
    while (!signal.aborted) {
      try {
        return await connect();
      } catch (error) {
        if (error instanceof KafkaFailure && !error.retryable) throw error;
        log.warn({ err: error }, 'Kafka does not answer yet; trying again.');
        await delay(KAFKA_RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    return undefined;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
