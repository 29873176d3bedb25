import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { findEngine } from '#infra/containers/engine.ts';
import { imageNames } from '#infra/containers/image-names.ts';
import { ImageProvider } from '#infra/containers/provide-image.ts';
import { openAppender } from '#infra/kafka/appender.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { readLog } from '#infra/kafka/log-reader.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { provideServiceImage } from '#test/stack/platform-control.ts';
import { createTenant, type Tenant } from '#test/stack/tenant.ts';
import { usePlatform } from '#test/stack/use-platform.ts';

const platform = await usePlatform();
let one: Tenant;
let other: Tenant;

beforeAll(async () => {
  [one, other] = await Promise.all([createTenant(), createTenant()]);
});

describe('the platform', () => {
  it('keeps what a tenant appends to Kafka from every other tenant', async () => {
    const [mine, theirs] = [await connectTopics(one), await connectTopics(other)];
    const value = Buffer.from(randomUUID());
    const appender = await openAppender(mine, { log: mine.log });
    await appender.append([{ topic: 'job.dead', key: 'a task', value }]);
    await appender.close();

    expect(await valuesIn(mine)).toEqual([value]);
    expect(await valuesIn(theirs)).toEqual([]);
  });

  it('gives each tenant a database of its own', async () => {
    await query(one, 'CREATE TABLE note (text text)');
    await query(one, "INSERT INTO note VALUES ('mine')");

    expect(await query(one, 'SELECT text FROM note')).toEqual([{ text: 'mine' }]);
    await expect(query(other, 'SELECT text FROM note')).rejects.toThrow('relation "note" does not exist');
  });

  it('gives each tenant a bucket of its own', async () => {
    const [mine, theirs] = [storageOf(one), storageOf(other)];
    await mine.putBytes('a/note', Buffer.from('mine'), { contentType: 'text/plain' });

    expect(await mine.getBytes('a/note', 100)).toEqual(Buffer.from('mine'));
    expect(await mine.head('a/note')).toEqual({ bytes: 4, contentType: 'text/plain' });
    expect(await theirs.head('a/note')).toBeUndefined();
  });

  it('runs the same major version of PostgreSQL as the embedded stack', async () => {
    const [row] = await query(one, 'SHOW server_version');
    expect(row?.['server_version']).toMatch(/^18\./);
  });
});

describe.runIf(platform.backEnd === 'containers')('the images', () => {
  it('are each told of in one line, with where they came from', async () => {
    const engine = await findEngine();
    if (engine === undefined) throw new Error('The Docker daemon does not answer.');
    const lines: string[] = [];
    const images = new ImageProvider(engine, (line) => lines.push(line));
    await Promise.all([images.provide('postgres'), images.provide('postgres'), images.provide('kafka')]);

    // The platform runs on them, so by now they are on this machine.
    expect(lines.toSorted()).toEqual([
      expect.stringMatching(/^image apache\/kafka:4\.3\.1: (was present|a stand-in from .*, kept from)/),
      expect.stringMatching(/^image postgres:18: (was present|a stand-in from .*, kept from)/),
    ]);
  });

  it('run the service without privileges, and without what only development needs', async () => {
    await provideServiceImage(platform);
    const engine = await findEngine();
    const description = await engine?.getImage(platform.containers?.image ?? '').inspect();
    expect(description?.Config.User).toBe('node');
    expect(description?.Config.Healthcheck?.Test).toContain('infra/containers/health-check.ts');
    const packages = await engine?.getImage(imageNames.node).inspect();
    expect(description?.Size).toBeGreaterThan(packages?.Size ?? 0);
  });
});

async function connectTopics(tenant: Tenant): Promise<KafkaConnection> {
  const config = parseConfig({ ...tenant.env, LOG_LEVEL: 'silent' });
  const kafka = connectKafka(config, { clientId: 'platform-test', log: createLogger(config, 'test') });
  await ensureTopics(kafka, config);
  return kafka;
}

async function valuesIn(kafka: KafkaConnection): Promise<Buffer[]> {
  const values: Buffer[] = [];
  for await (const { records } of readLog(kafka, { topics: ['job.dead'] })) {
    values.push(...records.map(({ value }) => value));
  }
  return values;
}

async function query(tenant: Tenant, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: tenant.databaseUrl });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const storageOf = (tenant: Tenant): ObjectStorage =>
  ObjectStorage.connect(storageSettings(parseConfig(tenant.env)));
