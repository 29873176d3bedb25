import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const credentials = z.object({
  kafkaClusterId: z.string(),
  postgresPassword: z.string(),
  s3AccessKeyId: z.string(),
  s3SecretAccessKey: z.string(),
});

/** The secrets of one data folder: random, made at its first start. */
export type StackCredentials = Readonly<z.infer<typeof credentials>>;

/** Reads the secrets of `dataDir`, or makes them once; the file is for its owner's eyes only. */
export async function loadCredentials(dataDir: string): Promise<StackCredentials> {
  const file = join(dataDir, 'credentials.json');
  const stored = await readFile(file, 'utf8').catch(() => undefined);
  if (stored !== undefined) return credentials.parse(JSON.parse(stored));
  const made: StackCredentials = {
    kafkaClusterId: randomBytes(16).toString('base64url'),
    postgresPassword: randomBytes(18).toString('hex'),
    s3AccessKeyId: `CL${randomBytes(9).toString('hex').toUpperCase()}`,
    s3SecretAccessKey: randomBytes(24).toString('hex'),
  };
  await writeFile(`${file}.new`, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return made;
}
