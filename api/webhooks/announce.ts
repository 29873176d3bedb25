import type pg from 'pg';
import { derivedUuid } from '#schemas/ids.ts';
import { findUnannouncedJobs, insertDeliveries, type NewDelivery } from './delivery-queue.ts';

const MINUTE_MS = 60_000;

/**
 * Only jobs that finished within the last 25 hours are announced: in a database that was lost whole the
 * deliveries are gone with it, and a rebuild must not send the messages of years once more.
 */
const RECENT_MS = 25 * 60 * MINUTE_MS;
const JUST_NOW_MS = 5 * MINUTE_MS;
const JOBS_AT_ONCE = 500;

/** The one delivery of a job, whose id is also the message's webhook-id. */
export const deliveryIdOf = (jobId: string): string => derivedUuid(jobId, 'webhook');

/** Makes a delivery of each finished job that has a callback and none yet. */
export async function announceFinishedJobs(pool: pg.Pool, finished: 'just-now' | 'recent'): Promise<void> {
  const withinMs = finished === 'recent' ? RECENT_MS : JUST_NOW_MS;
  for (;;) {
    const jobs = await findUnannouncedJobs(pool, { withinMs, most: JOBS_AT_ONCE });
    if (jobs.length === 0) return;
    const deliveries: readonly NewDelivery[] = jobs.map((job) => ({
      deliveryId: deliveryIdOf(job.jobId),
      host: hostOf(job.callbackUrl),
      job,
    }));
    await insertDeliveries(pool, deliveries);
    if (jobs.length < JOBS_AT_ONCE) return;
  }
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');
