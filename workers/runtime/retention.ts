import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '#infra/log.ts';
import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { ensureLifecycleRules, sweepExpired } from '#infra/object-storage/retention.ts';

const sweepEveryMs = 6 * 3_600_000;

/**
 * Keeps old objects from piling up until `signal` aborts: by the server's own lifecycle rules where it has
 * such, by sweeping now and then where it has not. Several workers may sweep at once.
 */
export async function keepRetention(storage: ObjectStorage, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      if (await ensureLifecycleRules(storage)) return;
      const deleted = await sweepExpired(storage, new Date(), signal);
      if (deleted > 0) log.info({ deleted }, 'old objects were deleted');
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'old objects could not be deleted; trying again later');
    }
    await delay(sweepEveryMs, undefined, { signal }).catch(() => undefined);
  }
}
