import { z } from 'zod';
import { findSwapJob, type SwapJobRow } from '../read-model.ts';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import { downloadLink } from './download-link.ts';
import type { HttpService } from './http-service.ts';
import { processingHeaders } from './job-headers.ts';
import { lookUpJob } from './job-lookup.ts';

const common = { job_id: z.uuid(), created_at: z.iso.datetime() };

export const faceSwapJobBody = z.discriminatedUnion('status', [
  z.object({ ...common, status: z.literal('processing'), progress: z.int().min(0).max(100) }),
  z.object({ ...common, status: z.literal('completed'), download_url: z.string().optional() }),
  z.object({ ...common, status: z.literal('failed'), error: z.string() }),
]);
type FaceSwapJobBody = z.output<typeof faceSwapJobBody>;

/** `GET /v1/face-swap/{jobId}`. */
export async function getFaceSwapJob(
  jobIdText: string,
  principal: Pick<Principal, 'teamId'>,
  service: HttpService,
): Promise<Answer> {
  const found = await lookUpJob(jobIdText, principal, service, (wanted) => findSwapJob(service.pool, wanted));
  if ('refused' in found) return found.refused;
  const body = await swapJob(found.job, service);
  const answer = answers.ok(body);
  return body.status === 'processing' ? { ...answer, headers: processingHeaders } : answer;
}

async function swapJob(job: SwapJobRow, service: HttpService): Promise<FaceSwapJobBody> {
  const { jobId, status, createdAt } = job;
  const shared = { job_id: jobId, created_at: createdAt.toISOString() };
  switch (status) {
    case 'processing':
      return { ...shared, status, progress: job.progressPercent };
    case 'failed':
      return { ...shared, status, error: job.error ?? 'The face swap could not be made.' };
    case 'completed': {
      const result = {
        objectKey: job.objectKey,
        finishedAt: job.finishedAt ?? createdAt,
        fileName: `face swap ${jobId.slice(0, 8)}.mp4`,
      };
      return { ...shared, status, ...(await downloadLink(result, service)) };
    }
  }
}
