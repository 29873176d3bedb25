import { z } from 'zod';
import { isUuid } from '#schemas/ids.ts';
import { type ClipJobRow, type ClipRow, findClipJob } from '../read-model.ts';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import type { HttpService } from './http-service.ts';
import { processingHeaders } from './job-headers.ts';

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

const DAY_SECONDS = 86_400;
const LINK_SECONDS = 7 * DAY_SECONDS;
/** Results are kept for 37 days, so every link that is signed within 30 lives its 7 days. */
const SIGNED_FOR_MS = 30 * DAY_SECONDS * 1_000;

/** `GET /v1/clip/{jobId}`. */
export async function getClipJob(
  jobIdText: string,
  principal: Pick<Principal, 'teamId'>,
  service: HttpService,
): Promise<Answer> {
  const jobId = jobIdText.toLowerCase();
  if (!isUuid(jobId)) return answers.jobNotFound;
  const wanted = { jobId, teamId: principal.teamId };
  const job = await findClipJob(service.pool, wanted);
  if (job !== undefined) return jobAnswer(job, service);
  // The job may be newer than the rows: only what the log does not hold either can be denied.
  if ((await service.freshness.check('job.events', jobId)) !== 'current') return answers.catchingUp;
  const late = await findClipJob(service.pool, wanted);
  return late === undefined ? answers.jobNotFound : jobAnswer(late, service);
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
  return {
    ...common,
    status: 'completed',
    ...(row.title === null ? {} : { title: row.title }),
    ...(row.heading === null ? {} : { heading: row.heading }),
    ...(await downloadUrl(row, service)),
  };
}

async function downloadUrl(
  row: ClipRow,
  { storage, now }: HttpService,
): Promise<Pick<ClipBody, 'download_url'>> {
  const ageMs = now().getTime() - (row.finishedAt ?? row.createdAt).getTime();
  if (row.objectKey === null || ageMs > SIGNED_FOR_MS) return {};
  const fileName = `${row.title ?? `clip ${row.clipId}`}.mp4`;
  return {
    download_url: await storage.presignedGet({
      key: row.objectKey,
      expiresInSeconds: LINK_SECONDS,
      fileName,
    }),
  };
}
