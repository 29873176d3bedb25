import type pg from 'pg';

/**
 * The advisory lock between those who write rows of the read model (shared, for one transaction) and those
 * who make or drop its tables (exclusive). Without it a drop and a batch would wait for each other's tables.
 */
const READ_MODEL_LOCK = 0x636c6970;

/** To be sent as its own simple query: `BEGIN`, and the right to write rows until the transaction ends. */
export const beginWritingRows = `BEGIN;
  SET LOCAL synchronous_commit = off;
  SELECT pg_advisory_xact_lock_shared(${READ_MODEL_LOCK})`;

/** Waits until nobody writes rows; holds them off until the transaction ends. */
export async function lockReadModelTables(client: pg.ClientBase): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(${READ_MODEL_LOCK})`);
}
