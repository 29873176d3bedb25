import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import type { Logger } from '#infra/log.ts';
import { lockReadModelTables } from '#infra/postgres/read-model-lock.ts';
import { inTransaction } from '#infra/postgres/transaction.ts';

/**
 * Brings the database to this version's tables: `migrations/<number>_<schema>_<what>.sql`, in order, each
 * once. Which ones were applied is recorded in the schema itself, so dropping `read_model` makes its own run
 * again and leaves those of `service`.
 */

const migratedSchemas = ['service', 'read_model'] as const;
type MigratedSchema = (typeof migratedSchemas)[number];

type Migration = Readonly<{ name: string; schema: MigratedSchema; sql: string; checksum: string }>;

/** The database's tables are not what this version makes; a person has to look. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused';
}

const migrationsFolder = join(import.meta.dirname, 'migrations');

/** Applies what is missing, all or nothing; several processes may do so at once. Throws `MigrationRefused`. */
export async function migrate(pool: pg.Pool, log: Logger, folder = migrationsFolder): Promise<void> {
  const migrations = loadMigrations(folder);
  const applied = await inTransaction(pool, async (client) => {
    await lockReadModelTables(client);
    const done = await readAppliedMigrations(client);
    refuseForeignMigrations(migrations, done);
    const missing = migrations.filter(({ name }) => !done.has(name));
    for (const migration of missing) await applyMigration(client, migration);
    return missing;
  });
  for (const { name } of applied) log.info({ migration: name }, 'Applied a migration.');
}

function loadMigrations(folder: string): readonly Migration[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  return files.map((file) => {
    const schema = migratedSchemas.find((name) => new RegExp(`^\\d{4}_${name}_[a-z0-9_]+\\.sql$`).test(file));
    if (schema === undefined)
      throw new MigrationRefused(`${file} must be named <4 digits>_<service or read_model>_<what>.sql.`);
    const sql = readFileSync(join(folder, file), 'utf8');
    return { name: file, schema, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}

async function readAppliedMigrations(client: pg.ClientBase): Promise<ReadonlyMap<string, string>> {
  for (const schema of migratedSchemas) await createMigrationsTable(client, schema);
  const { rows } = await client.query<{ name: string; checksum: string }>(
    migratedSchemas.map((schema) => `SELECT name, checksum FROM ${schema}.migrations`).join(' UNION ALL '),
  );
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

async function createMigrationsTable(client: pg.ClientBase, schema: MigratedSchema): Promise<void> {
  await client.query(`
    CREATE SCHEMA IF NOT EXISTS ${schema};
    CREATE TABLE IF NOT EXISTS ${schema}.migrations (
      name     text PRIMARY KEY,
      checksum text NOT NULL
    )`);
}

function refuseForeignMigrations(
  migrations: readonly Migration[],
  applied: ReadonlyMap<string, string>,
): void {
  const byName = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const [name, checksum] of applied) {
    const migration = byName.get(name);
    if (migration === undefined)
      throw new MigrationRefused(
        `The database was migrated by a newer version (${name} is unknown here): run that version.`,
      );
    if (migration.checksum !== checksum)
      throw new MigrationRefused(
        `${name} was changed after it had been applied: restore the file and put the change into a new one.`,
      );
  }
}

async function applyMigration(
  client: pg.ClientBase,
  { name, schema, sql, checksum }: Migration,
): Promise<void> {
  await client.query(sql);
  await client.query(`INSERT INTO ${schema}.migrations (name, checksum) VALUES ($1, $2)`, [name, checksum]);
}
