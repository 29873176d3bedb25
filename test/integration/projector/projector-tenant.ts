import type pg from 'pg';
import { type Config, parseConfig } from '#infra/config.ts';
import { type Appender, openAppender } from '#infra/kafka/appender.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger, type Logger } from '#infra/log.ts';
import { openPool } from '#infra/postgres/pool.ts';
import { createTenant } from '#test/stack/tenant.ts';
import type { HistoryRecord } from '#test/unit/projector/history.ts';

/** A tenant's log and database, opened for tests of what reads the one and writes the other. */
export type ProjectorTenant = Readonly<{
  config: Config;
  env: Readonly<Record<string, string>>;
  kafka: KafkaConnection;
  pool: pg.Pool;
  log: Logger;
  append: (records: readonly HistoryRecord[]) => Promise<void>;
  close: () => Promise<void>;
}>;

export async function openProjectorTenant(): Promise<ProjectorTenant> {
  const { env } = await createTenant();
  const config = parseConfig({ ...env, LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent' });
  const log = createLogger(config, 'test');
  const kafka = connectKafka(config, { clientId: 'projector-test', log });
  await ensureTopics(kafka, config);
  const pool = openPool(config, log, 'projector-test');
  const appender = await openAppender(kafka, { log });
  return {
    config,
    env,
    kafka,
    pool,
    log,
    append: (records) => appendAll(appender, records),
    close: async () => {
      await appender.close();
      await pool.end();
    },
  };
}

const APPENDED_AT_ONCE = 1_000;

async function appendAll(appender: Appender, records: readonly HistoryRecord[]): Promise<void> {
  for (let start = 0; start < records.length; start += APPENDED_AT_ONCE) {
    const some = records.slice(start, start + APPENDED_AT_ONCE);
    await appender.append(some.map(({ topic, key, value }) => ({ topic, key, value })));
  }
}
