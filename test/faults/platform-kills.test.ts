import { Client } from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { openAppender } from '#infra/kafka/appender.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { readLog } from '#infra/kafka/log-reader.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import type { PlatformDescription } from '#test/stack/platform.ts';
import { killPart, startPart } from '#test/stack/platform-control.ts';
import { until } from '#test/stack/poll.ts';
import { createTenant, type Tenant } from '#test/stack/tenant.ts';
import { useOwnPlatform } from '#test/stack/use-platform.ts';

/** The platform's own promise to fault tests: kill -9 is real, and what was acknowledged is there afterwards. */

const leaderLimitMs = 30_000;

let platform: PlatformDescription;

beforeAll(async () => {
  platform = await useOwnPlatform();
});

it('keeps what Kafka acknowledged over kill -9', async () => {
  const tenant = await createTenant(platform);
  const config = parseConfig({ ...tenant.env, LOG_LEVEL: 'silent' });
  const log = createLogger(config, 'test');
  const kafka = connectKafka(config, { clientId: 'platform-kills', log });
  await ensureTopics(kafka, config);
  const appender = await openAppender(kafka, { log });
  await appender.append([{ topic: 'job.dead', key: 'a task', value: Buffer.from('kept') }]);
  await appender.close();

  await killPart(tenant.platform, 'kafka');
  await expect(ensureTopics(kafka, config)).rejects.toThrow();
  await startPart(tenant.platform, 'kafka');

  // A broker that answers may still have to become its partitions' leader.
  expect(await until('the log is read', leaderLimitMs, () => valuesIn(kafka))).toEqual(['kept']);
});

it('keeps what PostgreSQL committed over kill -9', async () => {
  const tenant = await createTenant(platform);
  await query(tenant, "CREATE TABLE note AS SELECT 'kept' AS text");

  await killPart(tenant.platform, 'postgres');
  await expect(query(tenant, 'SELECT 1')).rejects.toThrow();
  await startPart(tenant.platform, 'postgres');

  expect(await query(tenant, 'SELECT text FROM note')).toEqual([{ text: 'kept' }]);
});

it('keeps what S3 stored over kill -9', async () => {
  const tenant = await createTenant(platform);
  const storage = ObjectStorage.connect(storageSettings(parseConfig(tenant.env)));
  await storage.putBytes('note', Buffer.from('kept'), { contentType: 'text/plain' });

  await killPart(tenant.platform, 's3');
  await startPart(tenant.platform, 's3');

  expect(await storage.getBytes('note', 100)).toEqual(Buffer.from('kept'));
});

async function valuesIn(kafka: KafkaConnection): Promise<string[]> {
  const values: string[] = [];
  for await (const { records } of readLog(kafka, { topics: ['job.dead'] })) {
    values.push(...records.map(({ value }) => value.toString()));
  }
  return values;
}

async function query(tenant: Tenant, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: tenant.databaseUrl, connectionTimeoutMillis: 3_000 });
  // A killed server is also an error event on the connection.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
