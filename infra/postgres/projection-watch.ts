import pg from 'pg';
import { z } from 'zod';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';

/**
 * Knows how far the projector is, by LISTEN: whoever wrote to the log can wait until its records are rows.
 * One connection of its own, made anew when it breaks or no longer answers.
 */

/** One record in the log; it is applied once the projector's next offset is beyond it. Topics without prefix. */
export type RecordPosition = Readonly<{ topic: string; partition: number; offset: number }>;

export type ProjectionWatch = Readonly<{
  /** True once all `positions` are rows; false when that took longer than `timeoutMs`. */
  waitFor(positions: readonly RecordPosition[], timeoutMs: number): Promise<boolean>;
  /** Tells what the log holds already, for `isCaughtUp`. */
  expect(positions: readonly RecordPosition[]): void;
  /** False while rows are missing that were there before, as in a rebuild, or that were told to `expect`. */
  isCaughtUp(): boolean;
  /** Whether notifications come in at this moment. */
  isListening(): boolean;
  close(): Promise<void>;
}>;

const CONNECT_TIMEOUT_MS = 3_000;
/** A connection that answers nothing for this long is given up. */
const ANSWER_TIMEOUT_MS = 3_000;
const HEARTBEAT_MS = 5_000;
const RECONNECT_MS = 500;

const notification = z.array(z.tuple([z.string(), z.number(), z.number()]));

/** Starts to watch; resolves at once, also while the database is away. Ends with `signal` or `close()`. */
export function watchProjection(options: {
  readonly config: Pick<Config, 'DATABASE_URL'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}): ProjectionWatch {
  const applied = new AppliedOffsets();
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const state = { listening: false };
  const ended = keepListening({ ...options, signal, applied, state });
  return {
    waitFor: (positions, timeoutMs) => applied.waitFor(positions, timeoutMs),
    expect: (positions) => applied.expect(positions),
    isCaughtUp: () => applied.isCaughtUp(),
    isListening: () => state.listening,
    close: async () => {
      stop.abort();
      await ended;
    },
  };
}

type Listening = Readonly<{
  config: Pick<Config, 'DATABASE_URL'>;
  log: Logger;
  signal: AbortSignal;
  applied: AppliedOffsets;
  state: { listening: boolean };
}>;

async function keepListening(listening: Listening): Promise<void> {
  while (!listening.signal.aborted) {
    try {
      await listenOnce(listening);
    } catch (error) {
      if (!listening.signal.aborted)
        listening.log.warn({ err: error }, 'The projection is not being watched; trying again.');
    }
    listening.state.listening = false;
    await pause(RECONNECT_MS, listening.signal);
  }
}

/** Resolves when `signal` aborts, rejects when the connection is lost. */
async function listenOnce({ config, signal, applied, state }: Listening): Promise<void> {
  const client = new pg.Client({
    connectionString: config.DATABASE_URL,
    application_name: 'clipledger-projection-watch',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: ANSWER_TIMEOUT_MS,
    keepAlive: true,
  });
  const { promise: lost, reject } = Promise.withResolvers<never>();
  lost.catch(() => {});
  client.on('error', reject);
  client.on('end', () => reject(new Error('The connection to the database ended.')));
  client.on('notification', ({ payload }) => applied.note(parseNotification(payload)));
  try {
    await client.connect();
    // First LISTEN, then the table: whatever is committed in between comes by notification as well.
    await client.query('LISTEN projection');
    applied.note(await readPositions(client));
    state.listening = true;
    while (!signal.aborted) {
      await Promise.race([pause(HEARTBEAT_MS, signal), lost]);
      if (!signal.aborted) await Promise.race([client.query('SELECT 1'), lost]);
    }
  } finally {
    await Promise.race([client.end().catch(() => {}), pause(ANSWER_TIMEOUT_MS, undefined)]);
  }
}

async function readPositions(client: pg.Client): Promise<readonly RecordPosition[]> {
  const exists = await client.query<{ found: boolean }>(
    `SELECT to_regclass('read_model.projection_positions') IS NOT NULL AS found`,
  );
  if (exists.rows[0]?.found !== true) return [];
  const { rows } = await client.query<{ topic: string; partition: number; next_offset: string }>(
    'SELECT topic, partition, next_offset FROM read_model.projection_positions',
  );
  return rows.map((row) => ({ ...row, offset: Number(row.next_offset) }));
}

function parseNotification(payload: string | undefined): readonly RecordPosition[] {
  const parsed = notification.safeParse(parseJson(payload ?? ''));
  if (!parsed.success) return [];
  return parsed.data.map(([topic, partition, offset]) => ({ topic, partition, offset }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The projector's next offsets as last heard, and who waits for them. */
class AppliedOffsets {
  readonly #nextOffsets = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  /** How far partitions have to come that have been further before. */
  readonly #targets = new Map<string, number>();

  /**
   * Takes `next` offsets as they are, also lower ones: a rebuild begins again at 0, and notifications come
   * in the order of the commits.
   */
  note(next: readonly RecordPosition[]): void {
    for (const { topic, partition, offset } of next) this.#noteOne(`${topic}/${partition}`, offset);
    for (const check of this.#waiting) check();
  }

  expect(positions: readonly RecordPosition[]): void {
    for (const { topic, partition, offset } of positions) this.#aim(`${topic}/${partition}`, offset + 1);
  }

  isCaughtUp(): boolean {
    return this.#targets.size === 0;
  }

  #noteOne(key: string, nextOffset: number): void {
    const before = this.#nextOffsets.get(key) ?? 0;
    this.#nextOffsets.set(key, nextOffset);
    if (nextOffset < before) this.#aim(key, before);
    if (nextOffset >= (this.#targets.get(key) ?? 0)) this.#targets.delete(key);
  }

  #aim(key: string, target: number): void {
    if ((this.#nextOffsets.get(key) ?? 0) < target)
      this.#targets.set(key, Math.max(target, this.#targets.get(key) ?? 0));
  }

  waitFor(positions: readonly RecordPosition[], timeoutMs: number): Promise<boolean> {
    if (this.#covers(positions)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (answer: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve(answer);
      };
      const check = () => {
        if (this.#covers(positions)) finish(true);
      };
      const timer = setTimeout(() => finish(false), timeoutMs);
      this.#waiting.add(check);
    });
  }

  #covers(positions: readonly RecordPosition[]): boolean {
    return positions.every(
      ({ topic, partition, offset }) => (this.#nextOffsets.get(`${topic}/${partition}`) ?? 0) > offset,
    );
  }
}

function pause(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, durationMs);
    signal?.addEventListener('abort', finish, { once: true });
  });
}
