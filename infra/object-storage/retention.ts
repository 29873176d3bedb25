import {
  GetBucketLifecycleConfigurationCommand,
  type LifecycleRule,
  PutBucketLifecycleConfigurationCommand,
} from '@aws-sdk/client-s3';
import type { ObjectStorage } from './object-storage.ts';
import { abandonUpload, unfinishedUploads } from './unfinished-uploads.ts';

const dayMs = 86_400_000;
const callLimitMs = 15_000;
const unfinishedUploadDays = 2;
const rulePrefix = 'clipledger-';

/**
 * How long objects live. Results outlast the last URL that was handed out (read on day 30, valid 7 days);
 * sources and plans are deleted when their job ends, so these days only clean up after crashes.
 */
export const retentionDays = { 'results/': 37, 'jobs/': 3, 'uploads/': 3 } as const;

/**
 * Asks the server to expire old objects by itself. False when it cannot (S3Proxy and versitygw have no
 * lifecycle rules): then `sweepExpired` must be run now and then. Rules that an operator made are left alone.
 */
export async function ensureLifecycleRules(storage: ObjectStorage): Promise<boolean> {
  const Bucket = storage.bucket;
  const abortSignal = AbortSignal.timeout(callLimitMs);
  try {
    const present = await storage.client
      .send(new GetBucketLifecycleConfigurationCommand({ Bucket }), { abortSignal })
      .catch(noRulesYet);
    if (isKept(present?.Rules ?? [])) return true;
    await storage.client.send(
      new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules: rules() } }),
      { abortSignal },
    );
    return true;
  } catch {
    return false;
  }
}

/** True where an operator made rules, and where all of ours are there. */
function isKept(present: readonly LifecycleRule[]): boolean {
  const ids = new Set(present.map(({ ID = '' }) => ID));
  return [...ids].some((id) => !id.startsWith(rulePrefix)) || rules().every(({ ID = '' }) => ids.has(ID));
}

/**
 * Deletes what is older than `retentionDays` allows, and the parts of uploads that nobody finished; returns
 * the number of objects deleted.
 */
export async function sweepExpired(storage: ObjectStorage, now: Date, signal?: AbortSignal): Promise<number> {
  let deleted = 0;
  for (const [prefix, days] of Object.entries(retentionDays)) {
    for await (const object of storage.list(prefix, signal)) {
      if (now.getTime() - object.modifiedAt.getTime() < days * dayMs) continue;
      await storage.delete(object.key, signal);
      deleted += 1;
    }
  }
  const before = new Date(now.getTime() - unfinishedUploadDays * dayMs);
  for (const upload of await unfinishedUploads(storage, signal))
    if (upload.begunAt !== undefined && upload.begunAt < before) await abandonUpload(storage, upload, signal);
  return deleted;
}

function rules(): LifecycleRule[] {
  return Object.entries(retentionDays).map(([prefix, days]) => ({
    ID: `${rulePrefix}${prefix.replace('/', '')}`,
    Status: 'Enabled',
    Filter: { Prefix: prefix },
    Expiration: { Days: days },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: unfinishedUploadDays },
  }));
}

function noRulesYet(error: unknown): undefined {
  if (error instanceof Error && error.name === 'NoSuchLifecycleConfiguration') return undefined;
  throw error;
}
