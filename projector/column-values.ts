/** How values of the log become values that Postgres takes. Total: a strange value must not stop the projection. */

const LAST_STORABLE_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Epoch milliseconds for a timestamptz column, exact to the millisecond. Times beyond year 9999 count as its end. */
export const timestamp = (epochMs: number): string =>
  new Date(Math.min(Math.max(epochMs, 0), LAST_STORABLE_MS)).toISOString();

export const optionalTimestamp = (epochMs: number | null): string | null =>
  epochMs === null ? null : timestamp(epochMs);

/** Text for a text column, which cannot hold NUL. */
export const text = (value: string): string =>
  value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;

export const optionalText = (value: string | null): string | null => (value === null ? null : text(value));
