import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import type { PlatformDescription, ServerAddresses } from './platform.ts';
import { usePlatform } from './use-platform.ts';

type Environment = Readonly<Record<string, string>>;

/** One test file's own share of the platform: a topic prefix, a database and a bucket. */
export type Tenant = {
  readonly name: string;
  readonly platform: PlatformDescription;
  readonly topicPrefix: string;
  readonly databaseUrl: string;
  readonly bucket: string;
  /** The settings by which a process on this machine works for this tenant. */
  readonly env: Environment;
  /** The same for a container of the service's image; null without containers. */
  readonly containerEnv: Environment | null;
};

/**
 * Makes a tenant on the run's platform, or on another one. Nothing of it collides with another tenant's; it ends with the
 * platform.
 */
export async function createTenant(on?: PlatformDescription): Promise<Tenant> {
  const platform = on ?? (await usePlatform());
  const name = `t${randomBytes(5).toString('hex')}`;
  await createDatabase(platform.servers.databaseUrl, name);
  const settings = { ...platform.servers.s3, bucket: name, forcePathStyle: true };
  await ObjectStorage.connect(settings).ensureBucket();
  const env = environment(platform.servers, platform, name);
  const inside = platform.containers?.inside;
  return {
    name,
    platform,
    topicPrefix: `${name}-`,
    databaseUrl: databaseOf(platform.servers.databaseUrl, name),
    bucket: name,
    env,
    containerEnv: inside === undefined ? null : environment(inside, platform, name),
  };
}

function environment(servers: ServerAddresses, platform: PlatformDescription, name: string): Environment {
  return {
    KAFKA_BROKERS: servers.kafkaBrokers,
    KAFKA_TOPIC_PREFIX: `${name}-`,
    DATABASE_URL: databaseOf(servers.databaseUrl, name),
    S3_ENDPOINT: servers.s3.endpoint,
    // Download URLs are for the test, which is outside of any container.
    S3_PUBLIC_ENDPOINT: platform.servers.s3.endpoint,
    S3_REGION: servers.s3.region,
    S3_BUCKET: name,
    S3_ACCESS_KEY_ID: servers.s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: servers.s3.secretAccessKey,
    // A folder without a stack: nothing may come from one that happens to run on this checkout.
    DATA_DIR: join(platform.runFolder, 'no-stack'),
  };
}

function databaseOf(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function createDatabase(serverUrl: string, name: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    // The name is made here of letters and digits; identifiers cannot be parameters.
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
}
