import { join } from 'node:path';
import type { RenderClipTask } from '#schemas/records.ts';
import type { PlannedClip, RenderedClip } from '../clip/contract.ts';
import type { GivenUp, Work } from './attempt-task.ts';
import { renderCallOff } from './cancelled-work.ts';
import { clipOf } from './clip-identity.ts';
import type { ClipOutcome } from './clip-outcome.ts';
import { type Cause, completedClip } from './clip-records.ts';
import { deadTaskOf } from './dead-task.ts';
import { announceOutcome, endClipsAsFailed } from './end-clips.ts';
import type { JobParts } from './job-parts.ts';
import { clipKey, clipPlanKey, sheetKey, sourceSheetKey } from './object-keys.ts';
import { storedMusicKey } from './stored-music.ts';
import { readPlan } from './stored-plan.ts';
import { TaskStages } from './task-stages.ts';

/** A render task as its worker gets it; `bytes` is the record as it was. */
export type RenderTask = Readonly<{ task: RenderClipTask; bytes: Buffer; cause: Cause }>;

/** Rendering one planned clip: its objects into storage, then ClipCompleted into `job.events`. */
export function renderWork(parts: JobParts, rendering: RenderTask): Work {
  const { task } = rendering;
  const log = parts.log.child({ jobId: task.job_id, teamId: task.team_id, item: task.item });
  return {
    deadlineAtMs: task.deadline_at,
    perform: (signal) => renderOrRepeat(parts, rendering, signal),
    giveUp: (end, signal) => failClip(parts, rendering, end, signal),
    // What an operator drives again is rendered for the operator, whatever became of the job.
    ...(task.attempt === 1 && { callOff: renderCallOff(parts, task) }),
    log,
  };
}

async function renderOrRepeat(parts: JobParts, rendering: RenderTask, signal: AbortSignal): Promise<void> {
  const { task, cause } = rendering;
  const about = { itemCount: task.clip.num_clips, cause };
  const known = await parts.outcomes.read(clipOf(task), signal);
  if (known !== undefined && !isRedriven(task, known)) {
    await announceOutcome(parts, known, about, signal);
    parts.metrics.ended('render', 'repeated');
    return;
  }
  const outcome = await parts.folders.within((folder) => render(parts, task, folder, signal));
  await announceOutcome(parts, outcome, about, signal);
  parts.metrics.ended('render', 'completed');
}

/** An operator drove a dead task again: that it failed before is known. */
const isRedriven = (task: RenderClipTask, known: ClipOutcome): boolean =>
  task.attempt > 1 && known.name === 'ClipFailed';

async function render(
  parts: JobParts,
  task: RenderClipTask,
  taskFolder: string,
  signal: AbortSignal,
): Promise<ClipOutcome> {
  const job = { jobId: task.job_id, teamId: task.team_id };
  const stages = new TaskStages(job, parts.progress, parts.metrics.stages);
  try {
    stages.enter('fetch');
    const plan = await readPlan(parts.storage, task.plan_object_key, signal);
    const planned = plan.clips.find(({ item }) => item === task.item);
    if (planned === undefined) throw new Error(`The plan has no clip ${task.item}.`);
    const sourcePath = join(taskFolder, 'source');
    const { maxDurationMs } = parts.limits;
    await parts.sources.place(task.source_object_key, sourcePath, signal);
    const musicPath = planned.music ? await placeMusic(parts, task, taskFolder, signal) : null;
    stages.enter('render');
    const rendered = await parts.pipeline.renderClip(
      { sourcePath, plan, item: task.item, musicPath },
      {
        tools: parts.tools,
        taskFolder,
        signal,
        onProgress: stages.onProgress,
        maxSourceDurationMs: maxDurationMs,
        fontsFolder: parts.fontsFolder,
      },
    );
    stages.enter('upload');
    return await store(parts, task, { planned, rendered }, signal);
  } finally {
    stages.leave();
  }
}

/** The job's music as a file: what was uploaded, or what its planner fetched. */
async function placeMusic(
  parts: JobParts,
  task: RenderClipTask,
  taskFolder: string,
  signal: AbortSignal,
): Promise<string> {
  const path = join(taskFolder, 'music');
  await parts.sources.place(storedMusicKey(task.job_id, task.clip), path, signal);
  return path;
}

/** The outcome is written last: where it is, the clip is whole. */
async function store(
  parts: JobParts,
  task: RenderClipTask,
  made: { readonly planned: PlannedClip; readonly rendered: RenderedClip },
  signal: AbortSignal,
): Promise<ClipOutcome> {
  const clip = clipOf(task);
  const { jobId, clipId } = clip;
  const { path, contactSheetPath, sourceSheetPath, report } = made.rendered;
  await parts.storage.putFile(clipKey(jobId, clipId), path, { contentType: 'video/mp4', signal });
  const png = { contentType: 'image/png', signal };
  await parts.storage.putFile(sheetKey(jobId, clipId), contactSheetPath, png);
  await parts.storage.putFile(sourceSheetKey(jobId, clipId), sourceSheetPath, png);
  const plan = Buffer.from(JSON.stringify(made.planned, undefined, 2));
  await parts.storage.putBytes(clipPlanKey(jobId, clipId), plan, { contentType: 'application/json', signal });
  const outcome = completedClip(clip, { ...made, atMs: parts.now() });
  await parts.outcomes.write(outcome, report, signal);
  return outcome;
}

async function failClip(
  parts: JobParts,
  rendering: RenderTask,
  end: GivenUp,
  signal: AbortSignal,
): Promise<void> {
  const { task, bytes, cause } = rendering;
  const { failure } = end;
  const { task_id: taskId, job_id: jobId, team_id: teamId } = task;
  await endClipsAsFailed(
    parts,
    {
      clips: [clipOf(task)],
      itemCount: task.clip.num_clips,
      failure,
      cause,
      dead: deadTaskOf({ taskId, jobId, teamId, bytes }, end),
    },
    signal,
  );
  parts.metrics.ended('render', failure.code);
}
