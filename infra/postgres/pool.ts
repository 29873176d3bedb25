import pg from 'pg';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';

const CONNECT_TIMEOUT_MS = 3_000;
const STATEMENT_TIMEOUT_MS = 15_000;

/** BIGINT columns hold cents, ids and offsets: numbers as long as they are exact, an error beyond. */
function parseBigint(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number))
    throw new RangeError(`The number ${text} from the database is not exact as a JavaScript number.`);
  return number;
}

/**
 * A pool on `DATABASE_URL`. Connecting and statements have time limits, so that a database that hangs
 * becomes an error that callers can answer; BIGINT comes as a number of cents.
 */
export function openPool(
  config: Pick<Config, 'DATABASE_URL' | 'DATABASE_POOL_SIZE'>,
  log: Logger,
  applicationName: string,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: config.DATABASE_URL,
    max: config.DATABASE_POOL_SIZE,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === pg.types.builtins.INT8 ? parseBigint : pg.types.getTypeParser(oid, format as 'text'),
    },
  });
  pool.on('error', (error) =>
    log.warn({ err: error }, 'An idle database connection broke; the pool makes a new one.'),
  );
  // A connection that breaks in a transaction between two statements tells nobody else, and an error that
  // nobody listens to ends the process; the transaction's next statement fails by itself.
  pool.on('connect', (client) =>
    client.on('error', (error) => log.debug({ err: error }, 'A database connection broke.')),
  );
  return pool;
}
