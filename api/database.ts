import type pg from 'pg';

/** The database cannot answer now; trying again later can help. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  readonly code = 'DATABASE_UNAVAILABLE';
  readonly retryable = true;
}

/** Waiting for a free connection comes before this, with a limit of its own. */
const QUERY_TIMEOUT_MS = 4_000;

/**
 * SQLSTATE classes and codes that pass by themselves: connections, resources, operator intervention,
 * serialization, read-only standby. `3F000` and `42P01` are a read model that is being built.
 */
const passingStates = /^(08|53|57|58|40)|^(25006|55P03|3F000|42P01)$/;

/** Runs one statement within a time limit. Fails with `DatabaseUnavailable` for whatever may pass. */
export async function queryRows<Row extends pg.QueryResultRow>(
  pool: Pick<pg.Pool, 'query'>,
  text: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  const limited: pg.QueryConfig & { query_timeout: number } = {
    text,
    values: [...values],
    query_timeout: QUERY_TIMEOUT_MS,
  };
  try {
    return (await pool.query<Row>(limited)).rows;
  } catch (cause) {
    if (isPassing(cause)) throw new DatabaseUnavailable('The database did not answer.', { cause });
    throw cause;
  }
}

/** Errors without an SQLSTATE come from the connection, never from the statement. */
function isPassing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return !/^[0-9A-Z]{5}$/.test(code) || passingStates.test(code);
}
