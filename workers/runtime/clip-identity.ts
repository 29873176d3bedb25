import { clipId } from '#schemas/job.ts';
import type { JobRequested, RenderClipTask } from '#schemas/records.ts';

/** One clip of a paid job: what every event about it names. */
export type ClipIdentity = Readonly<{
  jobId: string;
  teamId: number;
  debitId: string;
  item: number;
  clipId: number;
}>;

/** The clips that a job was paid for, in order. Throws when the ledger gave the job no clip ids. */
export function clipsOf(request: JobRequested): readonly ClipIdentity[] {
  return Array.from({ length: request.item_count }, (_, item) => {
    const id = clipId(request, item);
    if (id === null) throw new Error(`Clip job ${request.job_id} has no clip ids.`);
    return {
      jobId: request.job_id,
      teamId: request.team_id,
      debitId: request.debit_id,
      item,
      clipId: id,
    };
  });
}

/** The clip that `task` renders. */
export const clipOf = (task: RenderClipTask): ClipIdentity => ({
  jobId: task.job_id,
  teamId: task.team_id,
  debitId: task.debit_id,
  item: task.item,
  clipId: task.clip_id,
});
