import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { positionKey, readPositions } from './positions.ts';
import type { ProjectionWriter } from './projection-writer.ts';
import type { ProjectorStatus } from './projector-status.ts';

const LOOK_EVERY_MS = 1_000;

/** The rows that this projector wrote are not there any more; a rebuild or a restored database is the reason. */
export class RowsGone extends Error {
  override readonly name = 'RowsGone';
}

/**
 * Looks at the recorded positions every second until `signal` aborts: says whether the database answers, and
 * calls `onRowsGone` when a position has gone back or away, which an idle projector would not notice.
 */
export async function watchDatabase(
  { pool, status }: { readonly pool: pg.Pool; readonly status: ProjectorStatus },
  writer: ProjectionWriter,
  { signal, onRowsGone }: { readonly signal: AbortSignal; readonly onRowsGone: (reason: unknown) => void },
): Promise<void> {
  while (await pause(signal)) {
    // Taken before the positions are read: these can only have moved on since.
    const written = new Map(writer.owned);
    try {
      const recorded = new Map((await readPositions(pool)).map((at) => [positionKey(at), at.nextOffset]));
      status.isWell('database');
      for (const [key, nextOffset] of written) {
        if ((recorded.get(key) ?? -1) < nextOffset)
          onRowsGone(new RowsGone(`The recorded position of ${key} is before ${nextOffset}.`));
      }
    } catch (error) {
      if (signal.aborted) return;
      status.fails('database', `The database does not answer: ${String(error)}`);
      if (isTableMissing(error)) onRowsGone(new RowsGone('The read model was dropped.', { cause: error }));
    }
  }
}

/** Postgres: invalid_schema_name, undefined_table. */
export const isTableMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === '3F000' || error.code === '42P01');

const pause = (signal: AbortSignal): Promise<boolean> =>
  delay(LOOK_EVERY_MS, true, { signal }).catch(() => false);
