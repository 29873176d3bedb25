import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import type { ClipPlan } from '../clip/contract.ts';

/** A plan of a four-hour source with its scores is some 100 kB. */
const maxPlanBytes = 8 * 1024 * 1024;

/** The plan under `key`. Throws `StorageFailure` where there is none. */
export async function readPlan(storage: ObjectStorage, key: string, signal: AbortSignal): Promise<ClipPlan> {
  const plan: unknown = JSON.parse((await storage.getBytes(key, maxPlanBytes, signal)).toString('utf8'));
  if (!isPlan(plan)) throw new Error(`${key} is no plan of version 1.`);
  return plan;
}

/** Our own writing: the version says what the rest looks like. */
function isPlan(value: unknown): value is ClipPlan {
  return typeof value === 'object' && value !== null && 'version' in value && value.version === 1;
}
