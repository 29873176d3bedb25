import type { RenderClipTask } from '#schemas/records.ts';
import type { CallOff, Work } from './attempt-task.ts';
import type { CancelledItem } from './cancellations.ts';
import { type ClipIdentity, clipOf } from './clip-identity.ts';
import { patiently, removeIntermediates } from './end-clips.ts';
import type { JobParts } from './job-parts.ts';
import { clipObjectKeys } from './object-keys.ts';

/**
 * What is left to do for an item that was called off: its terminal event is in the log already, and wins
 * unless the item's own end went before it. That is told by object storage: an outcome is written there before
 * its event, so where none is now, none can be in the log before the cancellation.
 */

/**
 * Keeps the cancellation as the outcome of a clip that has none, so that a task of it, repeated anywhere at
 * any time, finds it ended; and deletes what the job no longer needs.
 */
export function cancelledWork(parts: JobParts, item: CancelledItem): Work {
  const { job_id: jobId, team_id: teamId } = item.value;
  const log = parts.log.child({ jobId, teamId });
  const perform = async (signal: AbortSignal) => {
    if (item.name === 'ClipFailed') {
      const clip = clipIn(item.value);
      if (await removeUnfinished(parts, clip, signal)) await parts.outcomes.write(item, undefined, signal);
    }
    await removeIntermediates(parts, jobId, signal);
  };
  const skip = async () => log.warn('a cancelled job could not be cleaned up; the bucket will expire it');
  return { deadlineAtMs: Number.MAX_SAFE_INTEGER, perform, giveUp: skip, log };
}

/** What a planner of a job that was called off leaves behind. */
export const planCallOff = (parts: JobParts, jobId: string): CallOff => ({
  jobId,
  cleanUp: async (signal) => {
    await patiently(parts, signal, (limit) => removeIntermediates(parts, jobId, limit));
    parts.metrics.ended('plan', 'cancelled');
  },
});

/** What a renderer of a clip that was called off leaves behind: perhaps half of its objects. */
export const renderCallOff = (parts: JobParts, task: RenderClipTask): CallOff => ({
  jobId: task.job_id,
  cleanUp: async (signal) => {
    await patiently(parts, signal, (limit) => removeUnfinished(parts, clipOf(task), limit));
    parts.metrics.ended('render', 'cancelled');
  },
});

/** Deletes the objects of a clip without an outcome or with a failed one; true when it has no outcome. */
async function removeUnfinished(parts: JobParts, clip: ClipIdentity, signal: AbortSignal): Promise<boolean> {
  const known = await parts.outcomes.read(clip, signal);
  if (known?.name === 'ClipCompleted') return false;
  for (const key of clipObjectKeys(clip.jobId, clip.clipId)) await parts.storage.delete(key, signal);
  return known === undefined;
}

const clipIn = (event: Extract<CancelledItem, { name: 'ClipFailed' }>['value']): ClipIdentity => ({
  jobId: event.job_id,
  teamId: event.team_id,
  debitId: event.debit_id,
  item: event.item,
  clipId: event.clip_id,
});
