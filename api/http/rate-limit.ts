import type pg from 'pg';
import { queryRows } from '../database.ts';

/** Where a key stands in its window after a request was counted. */
export type RateLimitStanding = Readonly<{
  isExceeded: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until a new window can begin, 1 to 60. */
  resetSeconds: number;
}>;

const WINDOW_SECONDS = 60;

/**
 * Counts one request of a key, for all instances at once: one statement, so that the row's lock puts
 * requests in an order. A window is 60 s from its first request; the count stops one above the limit.
 * `now()` is the same in the whole statement, so both CASEs see the same window.
 */
export async function countRequest(pool: pg.Pool, keyId: string, limit: number): Promise<RateLimitStanding> {
  const [row] = await queryRows<{ request_count: number; elapsed_seconds: number }>(
    pool,
    `INSERT INTO service.rate_limit_windows AS rate_window (key_id, window_started_at, request_count, last_request_at)
     VALUES ($1, now(), 1, now())
     ON CONFLICT (key_id) DO UPDATE SET
       last_request_at = greatest(rate_window.last_request_at, now()),
       window_started_at = CASE WHEN rate_window.window_started_at <= now() - make_interval(secs => $2)
                                THEN now() ELSE rate_window.window_started_at END,
       request_count = CASE WHEN rate_window.window_started_at <= now() - make_interval(secs => $2)
                            THEN 1 ELSE least(rate_window.request_count + 1, $3 + 1) END
     RETURNING request_count,
       extract(epoch FROM now() - window_started_at)::float8 AS elapsed_seconds`,
    [keyId, WINDOW_SECONDS, limit],
  );
  if (row === undefined) throw new Error('Counting a request returned no row.');
  const resetSeconds = Math.ceil(WINDOW_SECONDS - row.elapsed_seconds);
  return {
    isExceeded: row.request_count > limit,
    limit,
    remaining: Math.max(0, limit - row.request_count),
    resetSeconds: Math.min(WINDOW_SECONDS, Math.max(1, resetSeconds)),
  };
}

/** The headers of every counted response. */
export const rateLimitHeaders = (standing: RateLimitStanding): Readonly<Record<string, string>> => ({
  'ratelimit-limit': String(standing.limit),
  'ratelimit-remaining': String(standing.remaining),
  'ratelimit-reset': String(standing.resetSeconds),
});
