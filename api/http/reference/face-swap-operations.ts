import { answers } from '../answers.ts';
import { cancelledFaceSwapBody } from '../cancel-job.ts';
import { faceSwapResponseBody } from '../face-swap-request.ts';
import { faceSwapJobBody } from '../get-face-swap-job.ts';
import { noFaceImage, noVideo } from '../source-fields.ts';
import { catchingUp, formRefusals, jsonRefusals } from './common-refusals.ts';
import { faceSwapFormBody, faceSwapJsonBody } from './form-bodies.ts';
import {
  cancellingAnswer,
  cancelRefusals,
  createRefusals,
  forbiddenUrl,
  idempotencyKey,
  jobId,
} from './job-parts.ts';
import type { Operation } from './operation.ts';

const job_id = String(jobId.example);
const created_at = '2030-01-31T12:00:00.000Z';

export const createFaceSwap: Operation = {
  method: 'post',
  path: '/v1/face-swap',
  id: 'createFaceSwap',
  tag: 'Face swaps',
  summary: 'Create Face Swap',
  description:
    'Puts the face of an image into a video of at most 300 seconds. Costs 20 cents for each second of the video, rounded up, charged now and given back if the swap fails. Both the video and the image can be a URL or an uploaded file. The video is looked at before the charge, so this answer can take some seconds. An uploaded image is looked at too: without a face that can be used it is refused, and nothing is charged. An image at a URL, or a very large one, is looked at when the job runs, which then fails and gives the money back. Either way a sentence says what photo would do.',
  access: 'key',
  parameters: [idempotencyKey],
  bodies: [
    {
      contentType: 'application/json',
      body: { name: 'FaceSwapRequest', schema: faceSwapJsonBody },
      examples: {
        'two URLs': {
          video_url: 'https://example.com/talk.mp4',
          face_image_url: 'https://example.com/face.jpg',
          mode: 'face',
        },
      },
    },
    {
      contentType: 'multipart/form-data',
      body: { name: 'FaceSwapForm', schema: faceSwapFormBody },
      examples: {
        'two URLs': {
          video_url: 'https://example.com/talk.mp4',
          face_image_url: 'https://example.com/face.jpg',
        },
      },
    },
  ],
  successes: [
    {
      status: 202,
      when: 'The job is accepted and paid.',
      body: { name: 'FaceSwapCreated', schema: faceSwapResponseBody },
      examples: {
        'a video of 33.4 s': {
          job_id,
          mode: 'fullbody',
          duration_seconds: 34,
          cost_cents: 680,
          status: 'processing',
        },
      },
      headers: ['Location', 'Retry-After', 'Idempotency-Replayed'],
    },
  ],
  refusals: [
    ...jsonRefusals,
    { when: 'There is no video.', answer: answers.invalid([noVideo]) },
    { when: 'There is no face image.', answer: answers.invalid([noFaceImage]) },
    forbiddenUrl,
    {
      when: 'The video is longer than 300 seconds.',
      answer: answers.invalid([
        { path: 'video_url', message: 'The video is 301.2 s long; a face swap takes at most 300 s.' },
      ]),
    },
    {
      when: 'The uploaded image shows no face that can be used. The text says what photo would do.',
      answer: answers.invalid([
        {
          path: 'face_image',
          message:
            'No face was found in the face image: give a photo of one face, well lit, seen from the front and not small in the picture.',
        },
      ]),
    },
    ...formRefusals('video', 'mp4, mov, webm or avi', 500_000_000),
    {
      when: 'A source cannot be fetched or read. The text says why.',
      answer: answers.unusableSource('The source answered with status 404.'),
    },
    ...createRefusals(680, 500),
    { when: 'Too many videos are being looked at.', answer: answers.tooManyProbes },
  ],
  commands: [
    {
      title: 'Two URLs',
      text: `curl -X POST {base_url}/v1/face-swap \\
  -H "X-API-Key: $API_KEY" -H "Content-Type: application/json" \\
  -d '{"video_url": "'"$VIDEO_URL"'", "face_image_url": "'"$FACE_IMAGE_URL"'"}'`,
    },
    {
      title: 'Two files',
      text: `curl -X POST {base_url}/v1/face-swap -H "X-API-Key: $API_KEY" \\
  -F video=@talk.mp4 -F face_image=@face.jpg -F mode=face`,
    },
    {
      title: 'A URL and a file',
      text: `curl -X POST {base_url}/v1/face-swap -H "X-API-Key: $API_KEY" \\
  -F "video_url=$VIDEO_URL" -F face_image=@face.jpg`,
    },
  ],
};

export const getFaceSwapJob: Operation = {
  method: 'get',
  path: '/v1/face-swap/{jobId}',
  id: 'getFaceSwapJob',
  tag: 'Face swaps',
  summary: 'Get Face Swap Status',
  description:
    'The job is `processing`, then `completed` with a download_url for 7 days, or `failed` with an error and all its money given back.',
  access: 'key',
  parameters: [jobId],
  successes: [
    {
      status: 200,
      when: 'The job.',
      body: { name: 'FaceSwapJob', schema: faceSwapJobBody },
      examples: {
        processing: { job_id, status: 'processing', progress: 40, created_at },
        completed: {
          job_id,
          status: 'completed',
          download_url: 'https://storage.example.com/results/swap.mp4?X-Amz-Expires=604800',
          created_at,
        },
        failed: { job_id, status: 'failed', error: 'There is no face in the video.', created_at },
      },
      headers: ['Retry-After'],
    },
  ],
  refusals: [{ when: 'There is no such face swap of your team.', answer: answers.jobNotFound }, catchingUp],
  commands: [
    {
      title: 'Where a swap stands',
      text: `curl {base_url}/v1/face-swap/$SWAP_JOB_ID -H "X-API-Key: $API_KEY"`,
    },
  ],
};

export const cancelFaceSwap: Operation = {
  method: 'delete',
  path: '/v1/face-swap/{jobId}',
  id: 'cancelFaceSwap',
  tag: 'Face swaps',
  summary: 'Cancel a face swap',
  description:
    'Stops a face swap that is not finished. It is then `failed`, and all its money is given back. Doing it again gives the same answer.',
  access: 'key',
  parameters: [jobId],
  successes: [
    {
      status: 200,
      when: 'It is cancelled.',
      body: { name: 'CancelledFaceSwap', schema: cancelledFaceSwapBody },
      examples: { cancelled: { job_id, status: 'failed', refunded_cents: 680 } },
    },
    cancellingAnswer(job_id),
  ],
  refusals: [
    { when: 'There is no such face swap of your team.', answer: answers.jobNotFound },
    ...cancelRefusals,
    catchingUp,
  ],
  commands: [
    {
      title: 'Stop it',
      text: `curl -X DELETE {base_url}/v1/face-swap/$SWAP_JOB_ID -H "X-API-Key: $API_KEY"`,
    },
  ],
};
