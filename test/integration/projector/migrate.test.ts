import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { createLogger } from '#infra/log.ts';
import { dropReadModel } from '#infra/postgres/drop-read-model.ts';
import { openPool } from '#infra/postgres/pool.ts';
import { migrate } from '#projector/migrate.ts';
import { createTenant } from '#test/stack/tenant.ts';

const shipped = join(import.meta.dirname, '../../../projector/migrations');
const log = createLogger({ LOG_LEVEL: 'silent' }, 'test');
let pool: pg.Pool;
let folder: string;

beforeEach(async () => {
  pool = openPool(parseConfig((await createTenant()).env), log, 'migrate-test');
  folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  cpSync(shipped, folder, { recursive: true });
});

afterEach(async () => {
  await pool?.end();
  rmSync(folder, { recursive: true });
});

const nextTeamId = async () =>
  (await pool.query<{ id: number }>(`SELECT nextval('service.team_ids') AS id`)).rows[0]?.id;

test('several at once migrate a database once', async () => {
  await Promise.all(Array.from({ length: 4 }, () => migrate(pool, log, folder)));
  expect(await nextTeamId()).toBe(1);
});

test('after the read model is dropped its tables come back, and those of the service stay', async () => {
  await migrate(pool, log, folder);
  expect(await nextTeamId()).toBe(1);
  await dropReadModel(pool);
  await migrate(pool, log, folder);
  await pool.query('SELECT FROM read_model.wallets');
  expect(await nextTeamId()).toBe(2);
});

test('a migration that was changed after it was applied is refused', async () => {
  await migrate(pool, log, folder);
  writeFileSync(join(folder, '0002_read_model_tables.sql'), 'CREATE TABLE read_model.other ()');
  await expect(migrate(pool, log, folder)).rejects.toThrow('was changed after it had been applied');
});

test('a database that a newer version migrated is refused', async () => {
  const newer = join(folder, '0003_read_model_newer.sql');
  writeFileSync(newer, 'CREATE TABLE read_model.newer ()');
  await migrate(pool, log, folder);
  rmSync(newer);
  await expect(migrate(pool, log, folder)).rejects.toThrow('migrated by a newer version');
});

test('a migration that fails leaves nothing behind', async () => {
  writeFileSync(join(folder, '0003_read_model_wrong.sql'), 'CREATE TABLE read_model.half (); SELECT 1 / 0');
  await expect(migrate(pool, log, folder)).rejects.toThrow('division by zero');
  const { rows } = await pool.query(`SELECT to_regclass('read_model.wallets') AS wallets`);
  expect(rows).toEqual([{ wallets: null }]);
});
