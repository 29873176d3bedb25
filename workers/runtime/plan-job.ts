import { join } from 'node:path';
import { unlessMissing } from '#infra/object-storage/unless-missing.ts';
import type { ClipOptions, JobRequested } from '#schemas/records.ts';
import type { ClipPlan, PipelineContext, SourceName } from '../clip/contract.ts';
import { sourceNameOf } from '../clip/pipeline.ts';
import { appendRecords } from './append-records.ts';
import type { GivenUp, Work } from './attempt-task.ts';
import { planCallOff } from './cancelled-work.ts';
import { type ClipIdentity, clipsOf } from './clip-identity.ts';
import type { ClipOutcome } from './clip-outcome.ts';
import { type Cause, failedClip, outcomeRecord, renderTasks, taskRecord } from './clip-records.ts';
import { deadTaskOf } from './dead-task.ts';
import { endClipsAsFailed, removeIntermediatesOfEndedJob } from './end-clips.ts';
import type { JobParts } from './job-parts.ts';
import { analysisKey, planKey, sourceKey } from './object-keys.ts';
import { type AnalysedSource, readAnalysis, writeAnalysis } from './stored-analysis.ts';
import { provideMusic } from './stored-music.ts';
import { readPlan } from './stored-plan.ts';
import { TaskStages } from './task-stages.ts';

/** A requested clip job as its planner gets it; `bytes` is the record as it was. */
export type RequestedJob = Readonly<{ request: JobRequested; bytes: Buffer; cause: Cause }>;

type ClipJob = RequestedJob & { readonly options: ClipOptions; readonly clips: readonly ClipIdentity[] };

/** The longest a source may take to arrive. */
const fetchLimitMs = 30 * 60_000;

/** Planning a job: source and plan into object storage, a task for each clip into `job.tasks`. */
export function planWork(parts: JobParts, requested: RequestedJob): Work {
  const { request } = requested;
  if (request.clip === null) throw new Error(`Clip job ${request.job_id} has no clip options.`);
  const job: ClipJob = { ...requested, options: request.clip, clips: clipsOf(request) };
  return {
    deadlineAtMs: request.deadline_at,
    perform: (signal) => planJob(parts, job, signal),
    giveUp: (end, signal) => failJob(parts, job, end, signal),
    callOff: planCallOff(parts, request.job_id),
    log: parts.log.child({ jobId: request.job_id, teamId: request.team_id }),
  };
}

async function planJob(parts: JobParts, job: ClipJob, signal: AbortSignal): Promise<void> {
  const known = await parts.outcomes.readAll(job.clips, signal);
  const isRepeated = known.size === job.clips.length;
  if (isRepeated) await appendOutcomes(parts, job, [...known.values()], signal);
  else await appendPlan(parts, job, await storedOrNewPlan(parts, job, signal), known, signal);
  await removeIntermediatesOfEndedJob(parts, job.request.job_id, job.clips.length, signal);
  parts.metrics.ended('plan', isRepeated ? 'repeated' : 'completed');
}

async function appendOutcomes(
  parts: JobParts,
  job: ClipJob,
  outcomes: readonly ClipOutcome[],
  signal: AbortSignal,
): Promise<void> {
  const records = outcomes.map((outcome) => outcomeRecord(outcome, job.cause));
  await appendRecords(parts.appender, records, signal);
}

/** In one append: a task for each clip to render, and the end of those that the source does not give. */
async function appendPlan(
  parts: JobParts,
  job: ClipJob,
  plan: ClipPlan,
  known: ReadonlyMap<number, ClipOutcome>,
  signal: AbortSignal,
): Promise<void> {
  const atMs = parts.now();
  const ended = new Map(known);
  for (const outcome of missingClips(job, plan, atMs)) {
    if (known.has(outcome.value.item)) continue;
    await parts.outcomes.write(outcome, undefined, signal);
    ended.set(outcome.value.item, outcome);
  }
  const tasks = renderTasks(job.request, {
    clips: job.clips,
    plan,
    sourceObjectKey: storedSourceKey(job),
    ended: new Set(ended.keys()),
    atMs,
  });
  const records = [
    ...tasks.map((task) => taskRecord(task, job.cause)),
    ...[...ended.values()].map((outcome) => outcomeRecord(outcome, job.cause)),
  ];
  await appendRecords(parts.appender, records, signal);
}

function missingClips(job: ClipJob, plan: ClipPlan, atMs: number): readonly ClipOutcome[] {
  const planned = new Set(plan.clips.map((clip) => clip.item));
  return job.clips
    .filter(({ item }) => !planned.has(item))
    .map((clip) => {
      const reason = plan.missing.find(({ item }) => item === clip.item)?.reason;
      const message = reason ?? 'The video does not have enough material for this clip.';
      return failedClip(clip, { code: 'not_enough_material', message, atMs });
    });
}

/** A plan is made once: the source goes up before it, so that where a plan is there is its source. */
async function storedOrNewPlan(parts: JobParts, job: ClipJob, signal: AbortSignal): Promise<ClipPlan> {
  const stored = await unlessMissing(readPlan(parts.storage, planKey(job.request.job_id), signal));
  return stored ?? parts.folders.within((taskFolder) => makePlan(parts, job, taskFolder, signal));
}

async function makePlan(
  parts: JobParts,
  job: ClipJob,
  taskFolder: string,
  signal: AbortSignal,
): Promise<ClipPlan> {
  const { job_id: jobId, team_id: teamId } = job.request;
  const stages = new TaskStages({ jobId, teamId }, parts.progress, parts.metrics.stages);
  const context: PipelineContext = {
    tools: parts.tools,
    taskFolder,
    signal,
    onProgress: stages.onProgress,
    maxSourceDurationMs: parts.limits.maxDurationMs,
    modelsFolder: parts.modelsFolder,
    speech: parts.speech,
  };
  try {
    // First: music that cannot be had ends the job before its source is looked at, which takes long.
    await provideMusic(parts, job, context);
    const source = await storedOrNewAnalysis(parts, job, context, stages);
    const plan = await parts.pipeline.planClips({ ...source, options: job.options }, context);
    const body = Buffer.from(JSON.stringify(plan, undefined, 2));
    await parts.storage.putBytes(planKey(jobId), body, { contentType: 'application/json', signal });
    return plan;
  } finally {
    stages.leave();
  }
}

/** A source is looked at once, however often its job is planned: that takes longer than all the rest. */
async function storedOrNewAnalysis(
  parts: JobParts,
  job: ClipJob,
  context: PipelineContext,
  stages: TaskStages,
): Promise<AnalysedSource> {
  const key = analysisKey(job.request.job_id);
  const stored = await unlessMissing(readAnalysis(parts.storage, key, context.signal));
  if (stored !== undefined) return stored;
  stages.enter('fetch');
  const { path, sourceName } = await fetchAndStoreSource(parts, job, context);
  const analysed = { sourceName, analysis: await parts.pipeline.analyseVideo(path, context) };
  await writeAnalysis(parts.storage, key, analysed, context.signal);
  // Its clips may well be rendered here. Not before the analysis is there: till then another source may come.
  await parts.sources.keep(storedSourceKey(job), path);
  return analysed;
}

/** The source as a file; a fetched one is stored for the renderers, an uploaded one is there already. */
async function fetchAndStoreSource(
  parts: JobParts,
  job: ClipJob,
  context: PipelineContext,
): Promise<{ path: string; sourceName: SourceName }> {
  const { video_url: url, video_object_key: objectKey } = job.options;
  const { maxBytes } = parts.limits;
  const { signal } = context;
  if (objectKey !== null) {
    const path = join(context.taskFolder, 'source');
    await parts.sources.place(objectKey, path, signal);
    return { path, sourceName: { title: null, fileName: job.options.video_file_name ?? '' } };
  }
  if (url === null) throw new Error('The job names no source.');
  const timeoutMs = Math.max(1, Math.min(fetchLimitMs, job.request.deadline_at - parts.now()));
  const fetched = await parts.pipeline.fetchSource({ url, maxBytes, timeoutMs }, context);
  await parts.storage.putFile(sourceKey(job.request.job_id), fetched.path, {
    contentType: fetched.contentType,
    signal,
  });
  return {
    path: fetched.path,
    sourceName: { title: fetched.title, fileName: sourceNameOf(url) },
  };
}

const storedSourceKey = (job: ClipJob): string =>
  job.options.video_object_key ?? sourceKey(job.request.job_id);

async function failJob(parts: JobParts, job: ClipJob, end: GivenUp, signal: AbortSignal): Promise<void> {
  const { job_id: jobId, team_id: teamId } = job.request;
  const { failure } = end;
  await endClipsAsFailed(
    parts,
    {
      clips: job.clips,
      itemCount: job.clips.length,
      failure,
      cause: job.cause,
      dead: deadTaskOf({ taskId: `${jobId}/plan`, jobId, teamId, bytes: job.bytes }, end),
    },
    signal,
  );
  parts.metrics.ended('plan', failure.code);
}
