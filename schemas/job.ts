import type { RecordTypes } from './records.ts';

/**
 * What a job's events mean. The first terminal event of a clip, or of a face swap, counts; later ones change
 * nothing. A clip job ends when all its clips have; a face swap is one piece of work.
 */

export type ClipState =
  | Readonly<{ status: 'processing' }>
  | Readonly<{ status: 'completed'; event: RecordTypes['ClipCompleted'] }>
  | Readonly<{ status: 'failed'; event: RecordTypes['ClipFailed'] }>;

type ClipEvent =
  | Readonly<{ name: 'ClipCompleted'; value: RecordTypes['ClipCompleted'] }>
  | Readonly<{ name: 'ClipFailed'; value: RecordTypes['ClipFailed'] }>;
type SwapEvent =
  | Readonly<{ name: 'SwapCompleted'; value: RecordTypes['SwapCompleted'] }>
  | Readonly<{ name: 'SwapFailed'; value: RecordTypes['SwapFailed'] }>;
export type JobEvent =
  | Readonly<{ name: 'JobRequested'; value: RecordTypes['JobRequested'] }>
  | ClipEvent
  | SwapEvent;

type ClipJob = Readonly<{
  kind: 'clip';
  status: 'processing' | 'completed';
  request: RecordTypes['JobRequested'];
  clips: readonly ClipState[];
}>;
type SwapJob = Readonly<{ kind: 'face_swap'; request: RecordTypes['JobRequested'] }> &
  (
    | Readonly<{ status: 'processing' }>
    | Readonly<{ status: 'completed'; event: RecordTypes['SwapCompleted'] }>
    | Readonly<{ status: 'failed'; event: RecordTypes['SwapFailed'] }>
  );
export type Job = Readonly<{ status: 'unknown' }> | ClipJob | SwapJob;

export const unknownJob: Job = { status: 'unknown' };

/** The item of a face swap's charge: the whole of it. */
export const SWAP_ITEM = 0;

/** Whether a job asks for a face swap; all others ask for clips. */
export const isFaceSwap = (request: Pick<RecordTypes['JobRequested'], 'kind'>): boolean =>
  request.kind === 'face_swap';

/** The job after `event`. Events of a job that was never requested, or is of another kind, change nothing. */
export function evolveJob(job: Job, event: JobEvent): Job {
  switch (event.name) {
    case 'JobRequested':
      return job.status === 'unknown' ? requestedJob(event.value) : job;
    case 'ClipCompleted':
    case 'ClipFailed':
      return job.status !== 'unknown' && job.kind === 'clip' ? endClip(job, event) : job;
    case 'SwapCompleted':
    case 'SwapFailed':
      return job.status === 'processing' && job.kind === 'face_swap' ? endSwap(job, event) : job;
  }
}

function requestedJob(request: RecordTypes['JobRequested']): Job {
  if (isFaceSwap(request)) return { kind: 'face_swap', status: 'processing', request };
  const clips = Array.from({ length: request.item_count }, () => ({ status: 'processing' }) as const);
  return { kind: 'clip', status: 'processing', request, clips };
}

function endClip(job: ClipJob, event: ClipEvent): ClipJob {
  if (job.clips[event.value.item]?.status !== 'processing') return job;
  const clips = job.clips.with(event.value.item, terminalClip(event));
  const isFinished = clips.every((clip) => clip.status !== 'processing');
  return { ...job, clips, status: isFinished ? 'completed' : 'processing' };
}

function terminalClip(event: ClipEvent): ClipState {
  switch (event.name) {
    case 'ClipCompleted':
      return { status: 'completed', event: event.value };
    case 'ClipFailed':
      return { status: 'failed', event: event.value };
  }
}

function endSwap({ kind, request }: SwapJob, event: SwapEvent): SwapJob {
  switch (event.name) {
    case 'SwapCompleted':
      return { kind, request, status: 'completed', event: event.value };
    case 'SwapFailed':
      return { kind, request, status: 'failed', event: event.value };
  }
}

/** The id of clip `item` of a job; null for jobs without clips. */
export function clipId(
  request: Pick<RecordTypes['JobRequested'], 'first_clip_id' | 'clip_id_step'>,
  item: number,
): number | null {
  return request.first_clip_id === null ? null : request.first_clip_id + item * request.clip_id_step;
}
