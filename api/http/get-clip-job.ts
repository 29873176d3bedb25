import { z } from 'zod';
import { type ClipJobRow, type ClipRow, findClipJob } from '../read-model.ts';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import { downloadLink } from './download-link.ts';
import type { HttpService } from './http-service.ts';
import { processingHeaders } from './job-headers.ts';
import { lookUpJob } from './job-lookup.ts';

const clip = z.object({
  clip_id: z.int(),
  status: z.enum(['completed', 'failed']),
  title: z.string().optional(),
  heading: z.string().optional(),
  download_url: z.string().optional(),
  error: z.string().optional(),
  created_at: z.iso.datetime(),
});

export const clipJobBody = z.discriminatedUnion('status', [
  z.object({
    job_id: z.uuid(),
    status: z.literal('processing'),
    progress: z.object({ completed: z.int(), total: z.int() }),
    stage: z.string().optional(),
  }),
  z.object({ job_id: z.uuid(), status: z.literal('completed'), clips: z.array(clip) }),
]);
type ClipJobBody = z.output<typeof clipJobBody>;
type ClipBody = z.output<typeof clip>;

/** `GET /v1/clip/{jobId}`. */
export async function getClipJob(
  jobIdText: string,
  principal: Pick<Principal, 'teamId'>,
  service: HttpService,
): Promise<Answer> {
  const found = await lookUpJob(jobIdText, principal, service, (wanted) => findClipJob(service.pool, wanted));
  return 'refused' in found ? found.refused : jobAnswer(found.job, service);
}

async function jobAnswer(job: ClipJobRow, service: HttpService): Promise<Answer> {
  const body = await clipJob(job, service);
  const answer = answers.ok(body);
  return body.status === 'processing' ? { ...answer, headers: processingHeaders } : answer;
}

async function clipJob(job: ClipJobRow, service: HttpService): Promise<ClipJobBody> {
  if (job.status === 'processing') {
    const completed = job.clips.filter((row) => row.status !== 'processing').length;
    return {
      job_id: job.jobId,
      status: 'processing',
      progress: { completed, total: job.clips.length },
      ...(job.stage === null ? {} : { stage: job.stage }),
    };
  }
  const clips = await Promise.all(job.clips.map((row) => finishedClip(row, service)));
  return { job_id: job.jobId, status: 'completed', clips };
}

async function finishedClip(row: ClipRow, service: HttpService): Promise<ClipBody> {
  const common = { clip_id: row.clipId, created_at: row.createdAt.toISOString() };
  if (row.status !== 'completed')
    return { ...common, status: 'failed', error: row.error ?? 'The clip could not be made.' };
  const result = {
    objectKey: row.objectKey,
    finishedAt: row.finishedAt ?? row.createdAt,
    fileName: `${row.title ?? `clip ${row.clipId}`}.mp4`,
  };
  return {
    ...common,
    status: 'completed',
    ...(row.title === null ? {} : { title: row.title }),
    ...(row.heading === null ? {} : { heading: row.heading }),
    ...(await downloadLink(result, service)),
  };
}
