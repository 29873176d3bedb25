import { endOffsets } from '#infra/kafka/log-reader.ts';
import { positionKey, readPositions } from '#projector/positions.ts';
import { projectedTopics } from '#projector/projected-topics.ts';
import { ProjectorStatus } from '#projector/projector-status.ts';
import { runProjector } from '#projector/run-projector.ts';
import { until } from '#test/stack/poll.ts';
import type { ProjectorTenant } from './projector-tenant.ts';

export type RunningProjector = Readonly<{ status: ProjectorStatus; stop: () => Promise<void> }>;

/** A projector in this process. */
export function startProjector({ kafka, pool, log, config }: ProjectorTenant): RunningProjector {
  const status = new ProjectorStatus();
  const stopping = new AbortController();
  const ended = runProjector({ kafka, pool, log, status }, config, stopping.signal);
  return {
    status,
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };
}

/** Waits until the recorded positions are exactly the log's ends. */
export async function untilProjected({ kafka, pool }: ProjectorTenant, limitMs = 60_000): Promise<void> {
  const ends = new Map<string, number>();
  for (const topic of projectedTopics)
    for (const [partition, end] of (await endOffsets(kafka, topic)).entries())
      ends.set(positionKey({ topic, partition }), end);
  await until('the rows are up with the log', limitMs, async () => {
    const positions = new Map((await readPositions(pool)).map((at) => [positionKey(at), at.nextOffset]));
    return [...ends].every(([key, end]) => positions.get(key) === end) || undefined;
  });
}
