import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '#infra/config.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { migrate } from './migrate.ts';
import { type ProjectorParts, projectLog } from './project-log.ts';
import { restarts } from './projector-metrics.ts';
import { RowsGone } from './watch-database.ts';

const START_AGAIN_MS = { first: 200, most: 5_000 };
/** A run that lasted this long was a good one: the next failure is waited out shortly again. */
const GOOD_RUN_MS = 10_000;

/**
 * Keeps the read model up with the log until `signal` aborts. Every failure ends in the same way: waiting a
 * moment, then migrating and going on from the recorded positions. So it heals itself after an outage of
 * Kafka or Postgres, and begins at zero after the read model was dropped.
 */
export async function runProjector(
  parts: ProjectorParts,
  config: Pick<Config, 'KAFKA_TOPIC_PROFILE' | 'KAFKA_REPLICATION_FACTOR'>,
  signal: AbortSignal,
): Promise<void> {
  let waitMs = START_AGAIN_MS.first;
  while (!signal.aborted) {
    const startedMs = performance.now();
    try {
      await ensureTopics(parts.kafka, config);
      await migrate(parts.pool, parts.log);
      await projectLog(parts, signal);
    } catch (error) {
      if (signal.aborted) return;
      reportFailure(parts, error);
      if (error instanceof RowsGone || performance.now() - startedMs > GOOD_RUN_MS)
        waitMs = START_AGAIN_MS.first;
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, START_AGAIN_MS.most);
    }
  }
}

function reportFailure({ log, status }: ProjectorParts, error: unknown): void {
  restarts.inc();
  status.fails('start', error instanceof Error ? error.message : String(error));
  log.warn({ err: error }, 'Projecting starts again from the recorded positions.');
}
