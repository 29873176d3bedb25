import { join } from 'node:path';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { unlessMissing } from '#infra/object-storage/unless-missing.ts';
import type { FaceSwapOptions, JobRequested } from '#schemas/records.ts';
import { appendRecords } from '../../runtime/append-records.ts';
import type { GivenUp, Work } from '../../runtime/attempt-task.ts';
import { deadTaskOf } from '../../runtime/dead-task.ts';
import { sourceKey } from '../../runtime/object-keys.ts';
import type { RequestedJob } from '../../runtime/plan-job.ts';
import type { SwapContext } from '../contract.ts';
import { announceSwap, endSwapAsFailed, swapCallOff } from './end-swap.ts';
import { type PlannedSwap, readSwapPlan, writeSwapPlan } from './stored-swap.ts';
import { faceImageKey, swapPlanKey } from './swap-keys.ts';
import type { SwapParts } from './swap-parts.ts';
import { swapTaskRecord, swapTasks } from './swap-records.ts';
import { platformRoundingMs, type SwapWorkplace, withinSwapFolder } from './swap-task-folder.ts';

type SwapJob = RequestedJob & { readonly options: FaceSwapOptions };

/** The longest that either input may take to arrive. */
const fetchLimitMs = 30 * 60_000;

/** Planning a face swap: its inputs and plan into object storage, its tasks into `job.tasks`. */
export function planSwapWork(parts: SwapParts, requested: RequestedJob): Work {
  const { request } = requested;
  if (request.face_swap === null) throw new Error(`Face swap ${request.job_id} has no options.`);
  const job: SwapJob = { ...requested, options: request.face_swap };
  return {
    subject: 'face swap',
    deadlineAtMs: request.deadline_at,
    perform: (signal) => planSwap(parts, job, signal),
    giveUp: (end, signal) => failSwap(parts, job, end, signal),
    callOff: swapCallOff(parts, request.job_id, 'plan'),
    log: parts.log.child({ jobId: request.job_id, teamId: request.team_id }),
  };
}

async function planSwap(parts: SwapParts, job: SwapJob, signal: AbortSignal): Promise<void> {
  const { request, options, cause } = job;
  const known = await parts.swaps.outcomes.read(request.job_id, signal);
  if (known !== undefined) {
    await announceSwap(parts, known, cause, signal);
    parts.metrics.ended('plan', 'repeated');
    return;
  }
  const { plan } = await storedOrNewPlan(parts, job, signal);
  const tasks = swapTasks(request, {
    mode: options.mode,
    segments: options.mode === 'face' ? null : plan.segments.map(({ index }) => index),
    videoKey: videoKeyOf(job),
    faceImageKey: faceImageKeyOf(job),
    atMs: parts.now(),
  });
  await appendRecords(
    parts.appender,
    tasks.map((task) => swapTaskRecord(task, cause)),
    signal,
  );
  parts.metrics.ended('plan', 'completed');
}

/** A plan is made once: its inputs go up before it, so that where a plan is there are they. */
async function storedOrNewPlan(parts: SwapParts, job: SwapJob, signal: AbortSignal): Promise<PlannedSwap> {
  const stored = await unlessMissing(readSwapPlan(parts.storage, swapPlanKey(job.request.job_id), signal));
  return stored ?? withinSwapFolder(parts, job.request, signal, (place) => makePlan(parts, job, place));
}

async function makePlan(
  parts: SwapParts,
  job: SwapJob,
  { context, meter }: SwapWorkplace,
): Promise<PlannedSwap> {
  const { pipeline } = parts.swaps;
  meter.enter('fetch');
  // First the image: one that will not do ends the job before a large video is fetched.
  const imagePath = await provideFaceImage(parts, job, context);
  const { notes } = await pipeline.examineFaceImage(imagePath, context);
  meter.enter('fetch');
  const videoPath = await provideVideo(parts, job, context);
  const plan = await pipeline.scanFaces(videoPath, context);
  if (plan.segments.length === 0) throw new MediaFailure('NO_FACE', 'No face was found in the video.');
  const planned = { plan, face_notes: notes };
  await writeSwapPlan(parts.storage, job.request.job_id, planned, context.signal);
  // Its tasks may well run here. Not before the plan is there: till then other inputs may come.
  await parts.sources.keep(videoKeyOf(job), videoPath);
  await parts.sources.keep(faceImageKeyOf(job), imagePath);
  return planned;
}

/** The face image as a file; a fetched one is stored for the tasks, an uploaded one is there already. */
async function provideFaceImage(parts: SwapParts, job: SwapJob, context: SwapContext): Promise<string> {
  const { face_image_url: url, face_image_object_key: objectKey } = job.options;
  const { signal } = context;
  if (objectKey !== null) return place(parts, objectKey, join(context.taskFolder, 'face-image'), signal);
  if (url === null) throw new Error('The job names no face image.');
  const { path, contentType } = await parts.swaps.pipeline.fetchFaceImage(
    fetchInput(parts, job.request, url),
    context,
  );
  await parts.storage.putFile(faceImageKeyOf(job), path, { contentType, signal });
  return path;
}

/** The video as a file that is no longer than what was paid for; stored as the face image is. */
async function provideVideo(parts: SwapParts, job: SwapJob, context: SwapContext): Promise<string> {
  const { video_url: url, video_object_key: objectKey } = job.options;
  const { signal } = context;
  if (objectKey !== null) {
    const path = await place(parts, objectKey, join(context.taskFolder, 'source'), signal);
    await checkDuration(parts, job, { path, roundingMs: 0 }, context);
    return path;
  }
  if (url === null) throw new Error('The job names no video.');
  const fetched = await parts.pipeline.fetchSource(fetchInput(parts, job.request, url), {
    ...context,
    // A fetch is the beginning of the job: how far it is counts for nothing yet.
    onProgress: () => undefined,
  });
  const { path, contentType, title } = fetched;
  // Only hosting platforms give their videos titles.
  await checkDuration(parts, job, { path, roundingMs: title === null ? 0 : platformRoundingMs }, context);
  await parts.storage.putFile(videoKeyOf(job), path, { contentType, signal });
  return path;
}

async function place(parts: SwapParts, key: string, path: string, signal: AbortSignal): Promise<string> {
  await parts.sources.place(key, path, signal);
  return path;
}

/** The bill says whole seconds: a video is longer than that where its last, rounded up, is another one. */
async function checkDuration(
  parts: SwapParts,
  job: SwapJob,
  { path, roundingMs }: { readonly path: string; readonly roundingMs: number },
  context: SwapContext,
): Promise<void> {
  const billedMs = job.options.duration_seconds * 1_000;
  const durationMs = await parts.swaps.pipeline.videoDuration(path, context);
  if (durationMs <= billedMs + roundingMs) return;
  const message = `The video is ${durationMs / 1_000} s long now, but was ${job.options.duration_seconds} s when it was ordered: order it again.`;
  throw new MediaFailure('SOURCE_TOO_LONG', message);
}

const fetchInput = (parts: SwapParts, request: JobRequested, url: string) => ({
  url,
  maxBytes: parts.swaps.limits.maxBytes,
  timeoutMs: Math.max(1, Math.min(fetchLimitMs, request.deadline_at - parts.now())),
});

const videoKeyOf = ({ options, request }: SwapJob): string =>
  options.video_object_key ?? sourceKey(request.job_id);
const faceImageKeyOf = ({ options, request }: SwapJob): string =>
  options.face_image_object_key ?? faceImageKey(request.job_id);

async function failSwap(parts: SwapParts, job: SwapJob, end: GivenUp, signal: AbortSignal): Promise<void> {
  const { job_id: jobId, team_id: teamId } = job.request;
  const dead = deadTaskOf({ taskId: `${jobId}/plan`, jobId, teamId, bytes: job.bytes }, end);
  await endSwapAsFailed(parts, job.request, { failure: end.failure, cause: job.cause, dead }, signal);
  parts.metrics.ended('plan', end.failure.code);
}
