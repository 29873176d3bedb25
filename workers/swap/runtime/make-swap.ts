import { join } from 'node:path';
import type { SwapTask } from '#schemas/records.ts';
import type { GivenUp, Work } from '../../runtime/attempt-task.ts';
import type { Cause } from '../../runtime/clip-records.ts';
import { deadTaskOf } from '../../runtime/dead-task.ts';
import type { SwappedVideo, SwapWholeInput } from '../contract.ts';
import { announceSwap, endSwapAsFailed, swapCallOff } from './end-swap.ts';
import { fetchSegment, type PlannedSwap, readSwapPlan, storedSegments, storeSegment } from './stored-swap.ts';
import { swapKey, swapSheetKey } from './swap-keys.ts';
import type { SwapOutcome } from './swap-outcome.ts';
import type { SwapParts } from './swap-parts.ts';
import { completedSwap } from './swap-records.ts';
import { type SwapWorkplace, withinSwapFolder } from './swap-task-folder.ts';

/** A swap task as its worker gets it; `bytes` is the record as it was. */
export type ReceivedSwapTask = Readonly<{ task: SwapTask; bytes: Buffer; cause: Cause }>;

/** Swapping a whole video, or one segment and, where that was the last, the whole out of all of them. */
export function makeSwapWork(parts: SwapParts, received: ReceivedSwapTask): Work {
  const { task } = received;
  const log = parts.log.child({ jobId: task.job_id, teamId: task.team_id, segment: task.segment });
  return {
    subject: 'face swap',
    deadlineAtMs: task.deadline_at,
    perform: (signal) => makeOrRepeat(parts, received, signal),
    giveUp: (end, signal) => failSwap(parts, received, end, signal),
    // What an operator drives again is made for the operator, whatever became of the job.
    ...(task.attempt === 1 && { callOff: swapCallOff(parts, task.job_id, 'render') }),
    log,
  };
}

async function makeOrRepeat(
  parts: SwapParts,
  { task, cause }: ReceivedSwapTask,
  signal: AbortSignal,
): Promise<void> {
  const ended = await endOf(parts, task, signal);
  if (ended !== undefined) {
    await announceSwap(parts, ended, cause, signal);
    parts.metrics.ended('render', 'repeated');
    return;
  }
  const outcome = await withinSwapFolder(parts, task, signal, (place) => make(parts, task, place));
  if (outcome !== undefined) await announceSwap(parts, outcome, cause, signal);
  parts.metrics.ended('render', 'completed');
}

/** How the job ended already. That it failed is no end for an operator who drives a dead task again. */
async function endOf(
  parts: SwapParts,
  task: SwapTask,
  signal: AbortSignal,
): Promise<SwapOutcome | undefined> {
  const known = await parts.swaps.outcomes.read(task.job_id, signal);
  return task.attempt > 1 && known?.name === 'SwapFailed' ? undefined : known;
}

/** The job's outcome, where this task brought it about: while segments are missing, others will. */
async function make(
  parts: SwapParts,
  task: SwapTask,
  workplace: SwapWorkplace,
): Promise<SwapOutcome | undefined> {
  const { context, meter } = workplace;
  const { signal, taskFolder } = context;
  const { pipeline } = parts.swaps;
  const planned = await readSwapPlan(parts.storage, task.plan_object_key, signal);
  const { plan } = planned;
  const fetchInput = async (): Promise<SwapWholeInput> => {
    const input = { videoPath: join(taskFolder, 'source'), imagePath: join(taskFolder, 'face-image'), plan };
    await parts.sources.place(task.video_object_key, input.videoPath, signal);
    await parts.sources.place(task.face_image_object_key, input.imagePath, signal);
    return input;
  };
  if (task.segment === null) {
    const video = await pipeline.swapWhole(await fetchInput(), context);
    meter.enter('upload');
    return finish(parts, task, { planned, video }, signal);
  }
  let input: SwapWholeInput | undefined;
  for (const segment of await segmentsToSwap(parts, task, planned, signal)) {
    input ??= await fetchInput();
    meter.swaps(await frameShare(parts, task.job_id, planned, segment, signal));
    await storeSegment(
      parts.storage,
      task.job_id,
      await pipeline.swapSegment({ ...input, segment }, context),
      signal,
    );
  }
  // In one process only one at a time: the next finds the outcome of the one before.
  return parts.swaps.stitching.take(task.job_id, signal, () =>
    stitchIfWhole(parts, task, planned, workplace),
  );
}

/** The task's own segment, unless it is there. An operator's task stands for all that its dead job left undone. */
async function segmentsToSwap(
  parts: SwapParts,
  task: SwapTask,
  { plan }: PlannedSwap,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const done = await storedSegments(parts.storage, task.job_id, signal);
  return plan.segments
    .map(({ index }) => index)
    .filter((index) => !done.has(index) && (index === task.segment || task.attempt > 1));
}

async function frameShare(
  parts: SwapParts,
  jobId: string,
  { plan }: PlannedSwap,
  segment: number,
  signal: AbortSignal,
) {
  const done = await storedSegments(parts.storage, jobId, signal);
  const framesOf = (isCounted: (index: number) => boolean): number =>
    plan.segments
      .filter(({ index }) => isCounted(index))
      .reduce((sum, { first_frame: first, end_frame: end }) => sum + end - first, 0);
  return {
    before: framesOf((index) => done.has(index)),
    own: framesOf((index) => index === segment),
    total: framesOf(() => true),
  };
}

/**
 * Whoever finds all segments there stitches them. Two workers that finish at the same moment may both do so: they
 * write the same objects, and the first of their events counts. So a crash anywhere leaves nobody waiting.
 */
async function stitchIfWhole(
  parts: SwapParts,
  task: SwapTask,
  planned: PlannedSwap,
  { context, meter }: SwapWorkplace,
): Promise<SwapOutcome | undefined> {
  const { signal, taskFolder } = context;
  const { job_id: jobId } = task;
  // Another segment may have failed meanwhile, and with it the job: then this one is of no use.
  const ended = await endOf(parts, task, signal);
  if (ended !== undefined) return ended;
  const numbers = planned.plan.segments.map(({ index }) => index);
  const done = await storedSegments(parts.storage, jobId, signal);
  if (!numbers.every((number) => done.has(number))) return undefined;
  const segments = [];
  for (const segment of numbers) {
    const path = join(taskFolder, `part-${segment}.mkv`);
    const about = { jobId, segment, path, maxBytes: maxSegmentBytes };
    // One that was swapped here is fetched like the others: what is stitched is what was stored.
    segments.push({ segment, path, report: await fetchSegment(parts.storage, about, signal) });
  }
  const videoPath = join(taskFolder, 'stitched-source');
  await parts.sources.place(task.video_object_key, videoPath, signal);
  const video = await parts.swaps.pipeline.stitch({ videoPath, plan: planned.plan, segments }, context);
  meter.enter('upload');
  return finish(parts, task, { planned, video }, signal);
}

/** Intermediates of high quality: five minutes of Full HD stay well below it. */
const maxSegmentBytes = 16 * 1024 ** 3;

/** The outcome is written last: where it is, the result is whole. */
async function finish(
  parts: SwapParts,
  task: SwapTask,
  { planned, video }: { readonly planned: PlannedSwap; readonly video: SwappedVideo },
  signal: AbortSignal,
): Promise<SwapOutcome> {
  const { storage } = parts;
  await storage.putFile(swapKey(task.job_id), video.path, { contentType: 'video/mp4', signal });
  await storage.putFile(swapSheetKey(task.job_id), video.contactSheetPath, {
    contentType: 'image/png',
    signal,
  });
  const outcome = completedSwap(task, { video, notes: planned.face_notes, atMs: parts.now() });
  await parts.swaps.outcomes.write(outcome, video.report, signal);
  return outcome;
}

async function failSwap(
  parts: SwapParts,
  { task, bytes, cause }: ReceivedSwapTask,
  end: GivenUp,
  signal: AbortSignal,
): Promise<void> {
  const { task_id: taskId, job_id: jobId, team_id: teamId } = task;
  const dead = deadTaskOf({ taskId, jobId, teamId, bytes }, end);
  await endSwapAsFailed(parts, task, { failure: end.failure, cause, dead }, signal);
  parts.metrics.ended('render', end.failure.code);
}
