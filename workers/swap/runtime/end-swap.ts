import { appendRecords } from '../../runtime/append-records.ts';
import type { CallOff, Work } from '../../runtime/attempt-task.ts';
import type { CancelledItem } from '../../runtime/cancellations.ts';
import type { Cause } from '../../runtime/clip-records.ts';
import { deadRecord, type GivenUpTask } from '../../runtime/dead-task.ts';
import { keepForRedrive, patiently, removeIntermediates } from '../../runtime/end-clips.ts';
import type { TaskFailure } from '../../runtime/task-failure.ts';
import type { LaneName } from '../../runtime/worker-metrics.ts';
import { swapKey, swapSheetKey } from './swap-keys.ts';
import type { SwapOutcome } from './swap-outcome.ts';
import type { SwapParts } from './swap-parts.ts';
import { failedSwap, type SwapIdentity, swapOutcomeRecord } from './swap-records.ts';

/**
 * Fails a swap that has not ended otherwise, and puts `dead` aside for an operator, in one append. Rejects only
 * when Kafka cannot take it.
 */
export async function endSwapAsFailed(
  parts: SwapParts,
  swap: SwapIdentity,
  end: {
    readonly failure: Pick<TaskFailure, 'code' | 'message'>;
    readonly cause: Cause;
    readonly dead: GivenUpTask | undefined;
  },
  signal: AbortSignal,
): Promise<void> {
  const { outcomes } = parts.swaps;
  const { job_id: jobId } = swap;
  const atMs = parts.now();
  const known = await patiently(parts, signal, (limit) => outcomes.read(jobId, limit));
  const outcome = known ?? failedSwap(swap, { ...end.failure, atMs });
  const { dead } = end;
  await patiently(parts, signal, async (limit) => {
    if (dead !== undefined) await keepForRedrive(parts, jobId, limit);
    if (known === undefined) await outcomes.write(outcome, undefined, limit);
  });
  const records = [swapOutcomeRecord(outcome, end.cause)];
  if (dead !== undefined) records.push(deadRecord(dead, atMs, end.cause));
  await appendRecords(parts.appender, records, signal);
  await patiently(parts, signal, (limit) => removeIntermediates(parts, jobId, limit));
}

/** Appends how a swap ended, once that is kept in object storage, and cleans up behind it. */
export async function announceSwap(
  parts: SwapParts,
  outcome: SwapOutcome,
  cause: Cause,
  signal: AbortSignal,
): Promise<void> {
  await appendRecords(parts.appender, [swapOutcomeRecord(outcome, cause)], signal);
  await patiently(parts, signal, (limit) => removeIntermediates(parts, outcome.value.job_id, limit));
}

/** What a task of a swap that was called off leaves behind. */
export const swapCallOff = (parts: SwapParts, jobId: string, lane: LaneName): CallOff => ({
  jobId,
  cleanUp: async (signal) => {
    await patiently(parts, signal, (limit) => removeUnfinished(parts, jobId, limit));
    await patiently(parts, signal, (limit) => removeIntermediates(parts, jobId, limit));
    parts.metrics.ended(lane, 'cancelled');
  },
});

/**
 * What is left to do for a swap that was called off: the cancellation is kept as its outcome where it has none,
 * so that a task of it, repeated anywhere at any time, finds it ended; what it no longer needs is deleted.
 */
export function cancelledSwapWork(
  parts: SwapParts,
  item: Extract<CancelledItem, { name: 'SwapFailed' }>,
): Work {
  const { job_id: jobId, team_id: teamId } = item.value;
  const log = parts.log.child({ jobId, teamId });
  const perform = async (signal: AbortSignal) => {
    if (await removeUnfinished(parts, jobId, signal))
      await parts.swaps.outcomes.write(item, undefined, signal);
    await removeIntermediates(parts, jobId, signal);
  };
  const skip = async () => log.warn('a cancelled job could not be cleaned up; the bucket will expire it');
  return { deadlineAtMs: Number.MAX_SAFE_INTEGER, perform, giveUp: skip, log };
}

/** Deletes the objects of a swap that was not completed; true when it has no outcome. */
async function removeUnfinished(parts: SwapParts, jobId: string, signal: AbortSignal): Promise<boolean> {
  const known = await parts.swaps.outcomes.read(jobId, signal);
  if (known?.name === 'SwapCompleted') return false;
  for (const key of [swapKey(jobId), swapSheetKey(jobId)]) await parts.storage.delete(key, signal);
  return known === undefined;
}
