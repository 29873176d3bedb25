import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Appender } from '#infra/kafka/appender.ts';
import { KafkaUnavailable } from '#infra/kafka/kafka-failure.ts';
import type { LogPosition } from '#infra/kafka/record.ts';
import type { ProjectionWatch } from '#infra/postgres/projection-watch.ts';
import { type CancellableJob, findCancellableJob, type WantedJob } from './cancellable-job.ts';
import type { LogFreshness } from './log-freshness.ts';
import { cancelled, failItems, failureEventId } from './settlement/fail-items.ts';

/**
 * Calling a job off: what has not ended is ended by an event, as one that fails, and settlement gives its
 * money back as for any failure. An item that is finished in the same moment is either earned or given back:
 * whichever of the two events is first in the log counts.
 */

export type Cancellation =
  | Readonly<{ outcome: 'not-found' }>
  /** Every item had ended by itself. */
  | Readonly<{ outcome: 'finished' }>
  /** Also when it was called off before: then with what came back at that time. */
  | Readonly<{ outcome: 'cancelled'; job: CancellableJob; cancelledItems: number; refundedCents: number }>
  /** It is called off, but its refunds cannot be read yet. */
  | Readonly<{ outcome: 'cancelling'; job: CancellableJob }>
  /** The rows are behind the log: nothing was done. */
  | Readonly<{ outcome: 'behind' }>
  /** Kafka did not say whether it took the events; doing it again is safe. */
  | Readonly<{ outcome: 'unknown' }>;

export type CancelParts = Readonly<{
  pool: pg.Pool;
  appender: Pick<Appender, 'append'>;
  freshness: LogFreshness;
  watch: Pick<ProjectionWatch, 'waitFor'>;
  now: () => Date;
}>;

const APPEND_LIMIT_MS = 4_000;
/** A refund goes through settlement, the ledger and the projector: some 50 ms when they are at rest. */
const REFUND_LIMIT_MS = 5_000;
const LOOK_AGAIN_MS = { first: 20, most: 250 };

/** Calls a job off and waits, within limits, until what came back can be read. Twice is as good as once. */
export async function cancelJob(wanted: WantedJob, parts: CancelParts): Promise<Cancellation> {
  const seen = await findCancellableJob(parts.pool, wanted);
  if (seen !== undefined && seen.status !== 'processing') return endOf(seen);
  // A job may be newer than the rows, and rows that are behind show items as open that have ended.
  if ((await parts.freshness.check('job.events', wanted.jobId)) !== 'current') return { outcome: 'behind' };
  const job = await findCancellableJob(parts.pool, wanted);
  if (job === undefined) return { outcome: 'not-found' };
  const positions = await failOpenItems(job, parts);
  return positions === undefined ? { outcome: 'unknown' } : untilSettled(job, positions, wanted, parts);
}

/** Where the failures are in the log; undefined when Kafka did not say in time that it has them. */
async function failOpenItems(
  job: CancellableJob,
  parts: CancelParts,
): Promise<readonly LogPosition[] | undefined> {
  const open = job.items.filter(({ status }) => status === 'processing');
  if (open.length === 0) return [];
  try {
    return await Promise.race([
      failItems(open, cancelled, parts),
      delay(APPEND_LIMIT_MS, undefined, { ref: false }),
    ]);
  } catch (error) {
    if (error instanceof KafkaUnavailable) return undefined;
    throw error;
  }
}

/** The job's rows say that it has ended only once its refunds are rows too. */
async function untilSettled(
  job: CancellableJob,
  positions: readonly LogPosition[],
  wanted: WantedJob,
  parts: CancelParts,
): Promise<Cancellation> {
  const endMs = performance.now() + REFUND_LIMIT_MS;
  await parts.watch.waitFor(positions, REFUND_LIMIT_MS);
  for (let waitMs = LOOK_AGAIN_MS.first; ; waitMs = Math.min(waitMs * 2, LOOK_AGAIN_MS.most)) {
    const now = await findCancellableJob(parts.pool, wanted);
    if (now !== undefined && now.status !== 'processing') return endOf(now);
    if (performance.now() >= endMs) return { outcome: 'cancelling', job: now ?? job };
    await delay(waitMs);
  }
}

/** What calling it off, now or before, came to. */
function endOf(job: CancellableJob): Cancellation {
  const calledOff = job.items.filter((item) => item.terminalEventId === failureEventId(item, cancelled));
  if (calledOff.length === 0) return { outcome: 'finished' };
  const refunded = calledOff.filter(({ settlement }) => settlement === 'refunded');
  return {
    outcome: 'cancelled',
    job,
    cancelledItems: calledOff.length,
    refundedCents: refunded.length * job.itemCents,
  };
}
