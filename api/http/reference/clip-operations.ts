import { answers } from '../answers.ts';
import { cancelledClipJobBody } from '../cancel-job.ts';
import { clipResponseBody } from '../clip-request.ts';
import { clipJobBody } from '../get-clip-job.ts';
import { noVideo } from '../source-fields.ts';
import { catchingUp, formRefusals, jsonRefusals } from './common-refusals.ts';
import { clipFormBody, clipJsonBody } from './form-bodies.ts';
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

export const createClip: Operation = {
  method: 'post',
  path: '/v1/clip',
  id: 'createClip',
  tag: 'Clips',
  summary: 'Create Clip',
  description:
    'Cuts short vertical clips from a video. Each clip costs 150 cents, charged now; a clip that fails is given back. The answer comes at once, and the work goes on in the background: ask for the job at its Location. Where a camera mode cannot apply, as facecam without a camera picture, the clip is framed as standard.',
  access: 'key',
  parameters: [idempotencyKey],
  bodies: [
    {
      contentType: 'application/json',
      body: { name: 'ClipRequest', schema: clipJsonBody },
      examples: {
        'a video by URL': { video_url: 'https://example.com/talk.mp4' },
        'three clips of half a minute': {
          video_url: 'https://example.com/talk.mp4',
          num_clips: 3,
          length: 30,
          camera_mode: 'center-crop',
        },
        'the speaker close up, with captions and music': {
          video_url: 'https://example.com/talk.mp4',
          prompt: 'the part about the launch',
          camera_mode: 'speaker-zoom',
          heading: { text: 'Why it slipped', style: 'instagram', position: 'bottom' },
          captions: { enabled: true, color: 'yellow', font: 'Anton' },
          music_url: 'https://example.com/song.mp3',
        },
      },
    },
    {
      contentType: 'multipart/form-data',
      body: { name: 'ClipForm', schema: clipFormBody },
      examples: {
        'the URL of a video': { video_url: 'https://example.com/talk.mp4', num_clips: 2, length: 30 },
      },
    },
  ],
  successes: [
    {
      status: 200,
      when: 'The job is accepted and paid.',
      body: { name: 'ClipCreated', schema: clipResponseBody },
      examples: {
        'two clips': { job_id, num_clips: 2, cost_cents: 300, status: 'processing' },
      },
      headers: ['Location', 'Retry-After', 'Idempotency-Replayed'],
    },
  ],
  refusals: [
    ...jsonRefusals,
    { when: 'There is no video.', answer: answers.invalid([noVideo]) },
    forbiddenUrl,
    ...formRefusals('video', 'mp4, mov, avi, mkv or webm', 2_147_483_648),
    ...createRefusals(450, 300),
  ],
  commands: [
    {
      title: 'A video by URL',
      text: `curl -X POST {base_url}/v1/clip \\
  -H "X-API-Key: $API_KEY" -H "Content-Type: application/json" \\
  -d '{"video_url": "'"$VIDEO_URL"'", "num_clips": 2}'`,
    },
    {
      title: 'A file',
      text: `curl -X POST {base_url}/v1/clip -H "X-API-Key: $API_KEY" \\
  -F video=@talk.mp4 -F num_clips=2 -F length=30`,
    },
    {
      title: 'Safe to repeat',
      text: `curl -X POST {base_url}/v1/clip \\
  -H "X-API-Key: $API_KEY" -H "Content-Type: application/json" \\
  -H "Idempotency-Key: order-17" \\
  -d '{"video_url": "'"$VIDEO_URL"'", "length": 30, "camera_mode": "center-crop"}'`,
    },
  ],
};

export const getClipJob: Operation = {
  method: 'get',
  path: '/v1/clip/{jobId}',
  id: 'getClipJob',
  tag: 'Clips',
  summary: 'Get Job Status',
  description:
    'While clips are made, the job is `processing`. When all have ended it is `completed`: each clip is then `completed` with a download_url, or `failed` with an error and its 150 cents given back. Each reading signs its URLs anew, for 7 days.',
  access: 'key',
  parameters: [jobId],
  successes: [
    {
      status: 200,
      when: 'The job.',
      body: { name: 'ClipJob', schema: clipJobBody },
      examples: {
        processing: {
          job_id,
          status: 'processing',
          progress: { completed: 1, total: 2 },
          stage: 'rendering',
        },
        completed: {
          job_id,
          status: 'completed',
          clips: [
            {
              clip_id: 4711,
              status: 'completed',
              title: 'Why the launch slipped',
              heading: 'Why the launch slipped',
              download_url: 'https://storage.example.com/results/4711.mp4?X-Amz-Expires=604800',
              created_at: '2030-01-31T12:00:00.000Z',
            },
            {
              clip_id: 4714,
              status: 'failed',
              error: 'The video has no second part that makes a good clip.',
              created_at: '2030-01-31T12:00:00.000Z',
            },
          ],
        },
      },
      headers: ['Retry-After'],
    },
  ],
  refusals: [{ when: 'There is no such clip job of your team.', answer: answers.jobNotFound }, catchingUp],
  commands: [
    {
      title: 'Where a job stands',
      text: `curl {base_url}/v1/clip/$JOB_ID -H "X-API-Key: $API_KEY"`,
    },
  ],
};

export const cancelClipJob: Operation = {
  method: 'delete',
  path: '/v1/clip/{jobId}',
  id: 'cancelClipJob',
  tag: 'Clips',
  summary: 'Cancel a job',
  description:
    'Stops a job that is not finished. Clips that are done stay and stay paid; the others are `failed`, and their money is given back. Doing it again gives the same answer.',
  access: 'key',
  parameters: [jobId],
  successes: [
    {
      status: 200,
      when: 'It is cancelled.',
      body: { name: 'CancelledClipJob', schema: cancelledClipJobBody },
      examples: { cancelled: { job_id, status: 'completed', cancelled_clips: 2, refunded_cents: 300 } },
    },
    cancellingAnswer(job_id),
  ],
  refusals: [
    { when: 'There is no such clip job of your team.', answer: answers.jobNotFound },
    ...cancelRefusals,
    catchingUp,
  ],
  commands: [
    { title: 'Stop it', text: `curl -X DELETE {base_url}/v1/clip/$JOB_ID -H "X-API-Key: $API_KEY"` },
  ],
};
