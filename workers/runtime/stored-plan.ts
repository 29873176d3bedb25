import { MediaFailure } from '#infra/media/media-failure.ts';
import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { type ClipPlan, planVersion } from '../clip/contract.ts';

/** A plan of ten long clips with captions and moving cameras is some 1 MB. */
const maxPlanBytes = 16 * 1024 * 1024;

/**
 * The plan under `key`. Throws `StorageFailure` where there is none, and `MediaFailure` where a worker of another
 * release wrote it: half understood, it would be rendered wrongly.
 */
export async function readPlan(storage: ObjectStorage, key: string, signal: AbortSignal): Promise<ClipPlan> {
  const plan: unknown = JSON.parse((await storage.getBytes(key, maxPlanBytes, signal)).toString('utf8'));
  const version = typeof plan === 'object' && plan !== null && 'version' in plan ? plan.version : undefined;
  // Our own writing: the version says what the rest looks like.
  if (version === planVersion) return plan as ClipPlan;
  throw new MediaFailure(
    'NOT_SUPPORTED',
    'The clip was planned by another release of the service: order it again.',
    {
      detail: `${key} is a plan of version ${String(version)}, and this worker renders version ${planVersion}`,
    },
  );
}
