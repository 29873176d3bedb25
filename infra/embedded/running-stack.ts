import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { isDataFolderLocked } from './data-folder-lock.ts';

const s3Address = z.object({
  endpoint: z.string(),
  region: z.string(),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
  bucket: z.string(),
});

const addresses = z.object({
  ownerPid: z.number(),
  /** The servers' process ids, 0 for a part that is not run. */
  pids: z.object({ kafka: z.number(), postgres: z.number(), s3: z.number() }),
  kafkaBrokers: z.array(z.string()).optional(),
  databaseUrl: z.string().optional(),
  s3: s3Address.optional(),
  /** With Kafka alone: the teams whose secrets derive from it are there. */
  webhookMasterKey: z.string().optional(),
});

/** Where a running stack is reached; a part that it does not run is absent. */
export type EmbeddedAddresses = Readonly<z.infer<typeof addresses>>;

export type S3Address = Readonly<z.infer<typeof s3Address>>;

/** The file in which a running stack tells its addresses; its owner alone may read it. */
export function stackFile(dataDir: string): string {
  return join(dataDir, 'stack.json');
}

/** The stack that runs on `dataDir` now; undefined when its owner does not live, or is still starting. */
export async function findRunningStack(dataDir: string): Promise<EmbeddedAddresses | undefined> {
  const folder = resolve(dataDir);
  if (!existsSync(stackFile(folder)) || !isDataFolderLocked(folder)) return undefined;
  const text = await readFile(stackFile(folder), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : addresses.parse(JSON.parse(text));
}

/** The environment by which our processes are told the addresses. */
export function addressEnvironment(
  stack: Omit<EmbeddedAddresses, 'ownerPid' | 'pids'>,
): Record<string, string> {
  return {
    ...(stack.kafkaBrokers && { KAFKA_BROKERS: stack.kafkaBrokers.join(',') }),
    ...(stack.databaseUrl !== undefined && { DATABASE_URL: stack.databaseUrl }),
    ...(stack.s3 && {
      S3_ENDPOINT: stack.s3.endpoint,
      S3_REGION: stack.s3.region,
      S3_BUCKET: stack.s3.bucket,
      S3_ACCESS_KEY_ID: stack.s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: stack.s3.secretAccessKey,
    }),
    ...(stack.webhookMasterKey !== undefined && { WEBHOOK_MASTER_KEY: stack.webhookMasterKey }),
  };
}
