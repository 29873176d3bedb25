import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { lockReadModelTables } from './read-model-lock.ts';
import { inTransaction } from './transaction.ts';

const TRIES = 20;
const TRY_AGAIN_MS = 100;
const LOCK_TIMEOUT_MS = 2_000;
/** Postgres: deadlock_detected, lock_not_available. Readers take tables in their own order. */
const passing = new Set(['40P01', '55P03']);

/**
 * Begins a rebuild: drops every derived table. The projector makes them again and starts from the log's
 * beginning; whoever watches the projection hears that every partition is back at 0.
 */
export async function dropReadModel(pool: pg.Pool): Promise<void> {
  for (let tryNumber = 1; ; tryNumber++) {
    try {
      return await inTransaction(pool, dropOnce);
    } catch (error) {
      const mayPass = error instanceof pg.DatabaseError && passing.has(error.code ?? '');
      if (!mayPass || tryNumber === TRIES) throw error;
      await delay(TRY_AGAIN_MS);
    }
  }
}

async function dropOnce(client: pg.PoolClient): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await lockReadModelTables(client);
  await notifyBackAtZero(client);
  await client.query('DROP SCHEMA IF EXISTS read_model CASCADE');
}

async function notifyBackAtZero(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    `SELECT to_regclass('read_model.projection_positions') IS NOT NULL AS found`,
  );
  if (rows[0]?.found !== true) return;
  await client.query(
    `SELECT pg_notify('projection', json_build_array(json_build_array(topic, partition, 0))::text)
     FROM read_model.projection_positions`,
  );
}
