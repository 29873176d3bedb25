import {
  GetBucketLifecycleConfigurationCommand,
  type LifecycleRule,
  PutBucketLifecycleConfigurationCommand,
} from '@aws-sdk/client-s3';
import type { ObjectStorage } from './object-storage.ts';

const dayMs = 86_400_000;

/**
 * How long objects live. Results outlast the last URL that was handed out (read on day 30, valid 7 days);
 * sources and plans are deleted when their job ends, so these days only clean up after crashes.
 */
export const retentionDays = { 'results/': 37, 'jobs/': 3 } as const;

/**
 * Asks the server to expire old objects by itself. False when it cannot (S3Proxy and versitygw have no
 * lifecycle rules): then `sweepExpired` must be run now and then. Rules that an operator made are left alone.
 */
export async function ensureLifecycleRules(storage: ObjectStorage): Promise<boolean> {
  const Bucket = storage.bucket;
  const abortSignal = AbortSignal.timeout(15_000);
  try {
    const present = await storage.client
      .send(new GetBucketLifecycleConfigurationCommand({ Bucket }), { abortSignal })
      .catch(noRulesYet);
    if ((present?.Rules?.length ?? 0) > 0) return true;
    await storage.client.send(
      new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules: rules() } }),
      { abortSignal },
    );
    return true;
  } catch {
    return false;
  }
}

/** Deletes what is older than `retentionDays` allows; returns the number of objects deleted. */
export async function sweepExpired(storage: ObjectStorage, now: Date, signal?: AbortSignal): Promise<number> {
  let deleted = 0;
  for (const [prefix, days] of Object.entries(retentionDays)) {
    for await (const object of storage.list(prefix, signal)) {
      if (now.getTime() - object.modifiedAt.getTime() < days * dayMs) continue;
      await storage.delete(object.key, signal);
      deleted += 1;
    }
  }
  return deleted;
}

function rules(): LifecycleRule[] {
  return Object.entries(retentionDays).map(([prefix, days]) => ({
    ID: `clipledger-${prefix.replace('/', '')}`,
    Status: 'Enabled',
    Filter: { Prefix: prefix },
    Expiration: { Days: days },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: 2 },
  }));
}

function noRulesYet(error: unknown): undefined {
  if (error instanceof Error && error.name === 'NoSuchLifecycleConfiguration') return undefined;
  throw error;
}
