import { z } from 'zod';
import { isUuid } from '#schemas/ids.ts';
import { cancelJob } from '../cancel-job.ts';
import type { CancellableJob } from '../cancellable-job.ts';
import type { JobKind } from '../read-lists.ts';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import type { HttpService } from './http-service.ts';

/** 200 of `DELETE /v1/clip/{jobId}`: what the cancelling, this time or before, came to. */
export const cancelledClipJobBody = z.object({
  job_id: z.uuid(),
  status: z.literal('completed'),
  cancelled_clips: z.int(),
  refunded_cents: z.int(),
});

/** 200 of `DELETE /v1/face-swap/{jobId}`. */
export const cancelledFaceSwapBody = z.object({
  job_id: z.uuid(),
  status: z.literal('failed'),
  refunded_cents: z.int(),
});

/** 202 of both: it holds, and what came back can be asked for by the same request in a moment. */
export const cancellingBody = z.object({ job_id: z.uuid(), status: z.literal('cancelling') });

/** `DELETE /v1/clip/{jobId}` and `DELETE /v1/face-swap/{jobId}`. */
export async function deleteJob(
  kind: JobKind,
  jobIdText: string,
  principal: Principal,
  service: HttpService,
): Promise<Answer> {
  const jobId = jobIdText.toLowerCase();
  if (!isUuid(jobId)) return answers.jobNotFound;
  const { teamId, keyId } = principal;
  const cancellation = await cancelJob({ jobId, owner: { teamId, kind } }, service);
  service.log.info({ jobId, teamId, keyId, outcome: cancellation.outcome }, 'A job was to be cancelled.');
  switch (cancellation.outcome) {
    case 'not-found':
      return answers.jobNotFound;
    case 'finished':
      return answers.jobFinished;
    case 'behind':
      return answers.catchingUp;
    case 'unknown':
      return answers.cancelUnknown;
    case 'cancelling':
      return answers.cancelling(cancellingJob(cancellation.job));
    case 'cancelled':
      return answers.ok(cancelledJob(cancellation));
  }
}

const cancellingJob = ({ jobId }: CancellableJob): z.output<typeof cancellingBody> => ({
  job_id: jobId,
  status: 'cancelling',
});

function cancelledJob(done: {
  readonly job: CancellableJob;
  readonly cancelledItems: number;
  readonly refundedCents: number;
}): z.output<typeof cancelledClipJobBody> | z.output<typeof cancelledFaceSwapBody> {
  const { job, cancelledItems, refundedCents } = done;
  if (job.kind === 'face_swap') return { job_id: job.jobId, status: 'failed', refunded_cents: refundedCents };
  return {
    job_id: job.jobId,
    status: 'completed',
    cancelled_clips: cancelledItems,
    refunded_cents: refundedCents,
  };
}
