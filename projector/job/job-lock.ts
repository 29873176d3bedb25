import type pg from 'pg';

/**
 * A job's rows are written from three topics, by whoever owns their partitions at the moment. Two
 * transactions at once would not see each other's half: a refund could miss a clip that is just being
 * inserted. So each locks its jobs first. The locks are of one of 256 stripes, because a lock per job
 * would fill the server's lock table in a large batch.
 */

const STRIPES = 256;
const LOCK_CLASS = 0x6a6f62;

/** Locks the jobs until the transaction ends; the next statement sees whatever the holder before committed. */
export async function lockJobs(client: pg.ClientBase, jobIds: Iterable<string>): Promise<void> {
  const stripes = [...new Set([...jobIds].map(stripeOf))].sort((a, b) => a - b);
  await client.query('SELECT pg_advisory_xact_lock($1, stripe) FROM unnest($2::int[]) AS stripe', [
    LOCK_CLASS,
    stripes,
  ]);
}

/** Job ids are random or hashed UUIDs: their last two digits spread evenly. */
const stripeOf = (jobId: string): number => Number.parseInt(jobId.slice(-2), 16) % STRIPES || 0;
