import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const credentials = z.object({
  kafkaClusterId: z.string(),
  postgresPassword: z.string(),
  s3AccessKeyId: z.string(),
  s3SecretAccessKey: z.string(),
  webhookMasterKey: z.string(),
});

/** Data folders that were made before there were webhooks have no key for them. */
const storedCredentials = credentials.partial({ webhookMasterKey: true });

/** The secrets of one data folder: random, made at its first start. */
export type StackCredentials = Readonly<z.infer<typeof credentials>>;

/**
 * Reads the secrets of `dataDir`, or makes those that are missing, once; the file is for its owner's eyes
 * only. Only the holder of the folder's lock may call it.
 */
export async function loadCredentials(dataDir: string): Promise<StackCredentials> {
  const file = join(dataDir, 'credentials.json');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  const stored = text === undefined ? newCredentials() : storedCredentials.parse(JSON.parse(text));
  const { webhookMasterKey } = stored;
  if (text !== undefined && webhookMasterKey !== undefined) return { ...stored, webhookMasterKey };
  const complete = { ...stored, webhookMasterKey: webhookMasterKey ?? newWebhookMasterKey() };
  await writeFile(`${file}.new`, `${JSON.stringify(complete, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return complete;
}

const newCredentials = (): z.infer<typeof storedCredentials> => ({
  kafkaClusterId: randomBytes(16).toString('base64url'),
  postgresPassword: randomBytes(18).toString('hex'),
  s3AccessKeyId: `CL${randomBytes(9).toString('hex').toUpperCase()}`,
  s3SecretAccessKey: randomBytes(24).toString('hex'),
});

const newWebhookMasterKey = (): string => randomBytes(32).toString('base64');
