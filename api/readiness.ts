import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Readiness } from '#infra/health-server.ts';
import type { ProjectionWatch } from '#infra/postgres/projection-watch.ts';
import { queryRows } from './database.ts';

/** Whether this instance can serve: the ledger answers it, and the rows are there and watched. */
export async function checkReadiness(parts: {
  readonly ledger: { ready(): boolean };
  readonly pool: pg.Pool;
  readonly watch: Pick<ProjectionWatch, 'isListening' | 'isCaughtUp'>;
}): Promise<Readiness> {
  const reasons: string[] = [];
  if (!parts.ledger.ready()) reasons.push("The ledger's replies cannot be read yet (Kafka).");
  if (!parts.watch.isListening()) reasons.push('The projection is not being watched (Postgres).');
  if (!parts.watch.isCaughtUp()) reasons.push('The projector has not applied yet what the log held.');
  const tables = await hasTables(parts.pool);
  if (tables === 'unreachable') reasons.push('The database does not answer (Postgres).');
  if (tables === 'missing') reasons.push('The database has no tables yet: the projector makes them.');
  return { ready: reasons.length === 0, reasons };
}

const TABLES_LOOK_MS = 500;

/** Resolves once the database has its tables, which the projector makes at its first start, or `signal` aborts. */
export async function untilTables(pool: pg.Pool, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await hasTables(pool)) !== 'there')
    await delay(TABLES_LOOK_MS, undefined, { signal }).catch(() => undefined);
}

async function hasTables(pool: pg.Pool): Promise<'there' | 'missing' | 'unreachable'> {
  try {
    const [row] = await queryRows<{ found: boolean }>(
      pool,
      `SELECT to_regclass('read_model.projection_positions') IS NOT NULL
          AND to_regclass('service.rate_limit_windows') IS NOT NULL AS found`,
      [],
    );
    return row?.found === true ? 'there' : 'missing';
  } catch {
    return 'unreachable';
  }
}
