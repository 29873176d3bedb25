import { z } from 'zod';
import type { Answer } from '../http/answers.ts';
import { clipJobBody, getClipJob } from '../http/get-clip-job.ts';
import { faceSwapJobBody, getFaceSwapJob } from '../http/get-face-swap-job.ts';
import type { HttpService } from '../http/http-service.ts';
import type { ClaimedDelivery } from './delivery-queue.ts';

const [, finishedClips] = clipJobBody.options;
const [, finishedSwap, failedSwap] = faceSwapJobBody.options;
/** When the job ended. */
const timestamp = z.iso.datetime();

/** The JSON that announces a job's end: `data` is what its status endpoint answers at the time of sending. */
export const webhookMessageBody = z.discriminatedUnion('type', [
  z.object({ type: z.literal('clip.completed'), timestamp, data: finishedClips }),
  z.object({ type: z.literal('face_swap.completed'), timestamp, data: finishedSwap }),
  z.object({ type: z.literal('face_swap.failed'), timestamp, data: failedSwap }),
]);

type JobReader = (jobId: string, team: { teamId: number }, service: HttpService) => Promise<Answer>;

const readers: Readonly<Record<string, JobReader>> = { clip: getClipJob, face_swap: getFaceSwapJob };

/** The message of a finished job; undefined while the rows do not show its end, as in a rebuild. */
export async function readMessage(
  { jobId, teamId, kind, occurredAt }: Pick<ClaimedDelivery, 'jobId' | 'teamId' | 'kind' | 'occurredAt'>,
  service: HttpService,
): Promise<string | undefined> {
  const read = readers[kind];
  if (read === undefined) throw new Error(`There are no messages about jobs of the kind ${kind}.`);
  const { status, body } = await read(jobId, { teamId }, service);
  if (status !== 200 || body['status'] === 'processing') return undefined;
  const type = `${kind}.${body['status']}`;
  return JSON.stringify({ type, timestamp: occurredAt.toISOString(), data: body });
}
