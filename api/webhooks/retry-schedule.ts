/** When a delivery that did not arrive is tried again: ten times, over about a day. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The pauses between the eleven attempts; 23 h 43 min together. */
const pausesMs: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  8 * HOUR_MS,
];

/** Each pause is up to a tenth shorter or longer, so that what failed together does not come back together. */
const JITTER = 0.1;
/** An endpoint may ask for a longer pause than the schedule's, up to this. */
const LONGEST_ASKED_MS = 8 * HOUR_MS;

/**
 * The pause after failed attempt number `attempt` (from 1), in milliseconds; undefined after the last one.
 * `random` is from 0 to below 1; `askedMs` is what the endpoint's Retry-After asked for.
 */
export function retryPauseMs(
  attempt: number,
  random: number,
  askedMs: number | undefined = 0,
): number | undefined {
  const scheduledMs = pausesMs[attempt - 1];
  if (scheduledMs === undefined) return undefined;
  const jitteredMs = Math.round(scheduledMs * (1 + JITTER * (2 * random - 1)));
  return Math.max(jitteredMs, Math.min(askedMs, LONGEST_ASKED_MS));
}

/** What a Retry-After header asks for (RFC 9110: seconds, or a date), in milliseconds; undefined without one. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * SECOND_MS;
  const atMs = /GMT$/.test(header.trim()) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - now.getTime());
}
