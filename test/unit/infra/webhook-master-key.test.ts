import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { loadCredentials } from '#infra/embedded/credentials.ts';
import { addressEnvironment } from '#infra/embedded/running-stack.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'credentials-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const keyOf = (text: string) => parseConfig({ WEBHOOK_MASTER_KEY: text }).WEBHOOK_MASTER_KEY;
const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => index + 200));

test.each(['hex', 'base64', 'base64url'] as const)('a master key may be written as %s', (encoding) => {
  expect(keyOf(bytes.toString(encoding))).toEqual(bytes);
});

test.each([
  'short',
  'ab'.repeat(31),
  Buffer.alloc(31).toString('base64'),
  `${'a'.repeat(50)} b`,
  '€'.repeat(60),
])('the master key %j is refused', (text) => {
  expect(() => keyOf(text)).toThrow('WEBHOOK_MASTER_KEY: must be at least 32 random bytes');
});

test('a data folder makes its key once and shows it to nobody else', async () => {
  const { webhookMasterKey } = await loadCredentials(folder);
  expect(keyOf(webhookMasterKey)).toHaveLength(32);
  expect(statSync(join(folder, 'credentials.json')).mode & 0o777).toBe(0o600);
  expect((await loadCredentials(folder)).webhookMasterKey).toBe(webhookMasterKey);
  expect(addressEnvironment({ webhookMasterKey })).toEqual({ WEBHOOK_MASTER_KEY: webhookMasterKey });
});

test('an older data folder gets a key and keeps its other secrets', async () => {
  const file = join(folder, 'credentials.json');
  const older = { kafkaClusterId: 'k', postgresPassword: 'p', s3AccessKeyId: 'a', s3SecretAccessKey: 's' };
  writeFileSync(file, JSON.stringify(older));
  const complete = await loadCredentials(folder);
  expect(complete).toEqual({ ...older, webhookMasterKey: expect.any(String) });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(complete);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
