import type { RecordTypes } from './records.ts';

/** What a clip job's events mean. The first terminal event of a clip counts; later ones change nothing. */

export type ClipState =
  | Readonly<{ status: 'processing' }>
  | Readonly<{ status: 'completed'; event: RecordTypes['ClipCompleted'] }>
  | Readonly<{ status: 'failed'; event: RecordTypes['ClipFailed'] }>;

export type JobEvent =
  | Readonly<{ name: 'JobRequested'; value: RecordTypes['JobRequested'] }>
  | Readonly<{ name: 'ClipCompleted'; value: RecordTypes['ClipCompleted'] }>
  | Readonly<{ name: 'ClipFailed'; value: RecordTypes['ClipFailed'] }>;

export type Job =
  | Readonly<{ status: 'unknown' }>
  | Readonly<{
      status: 'processing' | 'completed';
      request: RecordTypes['JobRequested'];
      clips: readonly ClipState[];
    }>;

export const unknownJob: Job = { status: 'unknown' };

/** The job after `event`. Events of a job that was never requested change nothing. */
export function evolveJob(job: Job, event: JobEvent): Job {
  if (event.name === 'JobRequested') return job.status === 'unknown' ? requestedJob(event.value) : job;
  if (job.status === 'unknown' || job.clips[event.value.item]?.status !== 'processing') return job;
  const clips = job.clips.with(event.value.item, terminalClip(event));
  const isFinished = clips.every((clip) => clip.status !== 'processing');
  return { ...job, clips, status: isFinished ? 'completed' : 'processing' };
}

function requestedJob(request: RecordTypes['JobRequested']): Job {
  return {
    status: 'processing',
    request,
    clips: Array.from({ length: request.item_count }, () => ({ status: 'processing' })),
  };
}

function terminalClip(event: Exclude<JobEvent, { name: 'JobRequested' }>): ClipState {
  switch (event.name) {
    case 'ClipCompleted':
      return { status: 'completed', event: event.value };
    case 'ClipFailed':
      return { status: 'failed', event: event.value };
  }
}

/** The id of clip `item` of a job; null for jobs without clips. */
export function clipId(
  request: Pick<RecordTypes['JobRequested'], 'first_clip_id' | 'clip_id_step'>,
  item: number,
): number | null {
  return request.first_clip_id === null ? null : request.first_clip_id + item * request.clip_id_step;
}
