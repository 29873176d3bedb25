import { setTimeout as delay } from 'node:timers/promises';

/**
 * Asks `attempt` again and again until it gives something else than undefined, and returns that. Throws
 * after `limitMs` with `what` and the last error, so that a test says what did not come about.
 */
export async function until<T>(
  what: string,
  limitMs: number,
  attempt: () => Promise<T | undefined> | T | undefined,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  let lastError: unknown;
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 1.5, 500)) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      if (error instanceof GivenUp) throw error;
      lastError = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`${what}: not within ${limitMs / 1000} s.`, { cause: lastError });
    }
    await delay(pauseMs);
  }
}

/** Thrown by an attempt when it makes no sense to go on asking. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp';
}
