import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, ApiClient } from '#test/stack/client.ts';
import type { HostileFile } from './hostile-files.ts';
import type { HostileServer } from './hostile-server.ts';

/** What became of a hostile file: refused at once, or part of a job that ended, in words. */
export type Outcome = { readonly words: string; readonly completed: boolean };

/** A way for a stranger's file into the service. */
export type WayIn = {
  readonly name: string;
  /** How many at a time: a team may not have more sources looked at before it is charged. */
  readonly atOnce: number;
  /** What the file must come to by this way. */
  readonly must: (file: HostileFile) => HostileFile['must'];
  readonly tryFile: (file: HostileFile, around: Around) => Promise<Outcome>;
};

export type Around = {
  readonly client: ApiClient;
  readonly baseUrl: string;
  readonly server: HostileServer;
  /** Beyond suspicion, for what is beside the hostile file. */
  readonly goodVideo: string;
  readonly goodFace: string;
  readonly limitMs: number;
};

/** The one that takes the least work to render. */
const cameraMode = 'center-crop';
const pollPauseMs = 1_000;

const clipByUrl: WayIn = {
  name: 'a clip by URL',
  atOnce: 1_000,
  must: ({ must }) => must,
  tryFile: async ({ path }, around) => {
    const order = { video_url: around.server.put({ file: path }), camera_mode: cameraMode };
    return outcomeOf('/v1/clip', await around.client.post('/v1/clip', order), around);
  },
};

const clipByUpload: WayIn = {
  name: 'a clip by upload',
  atOnce: 4,
  must: ({ must }) => must,
  tryFile: async ({ path }, around) => {
    const form = await formOf({ camera_mode: cameraMode }, { video: path });
    return outcomeOf('/v1/clip', await postForm('/v1/clip', form, around), around);
  },
};

const swapByUrl: WayIn = {
  name: 'a face swap by URL',
  atOnce: 1,
  must: mustOfSwap,
  tryFile: async ({ path }, around) => {
    const { server, goodFace } = around;
    const order = {
      video_url: server.put({ file: path }),
      face_image_url: server.put({ file: goodFace }),
      mode: 'face',
    };
    return outcomeOf('/v1/face-swap', await around.client.post('/v1/face-swap', order), around);
  },
};

const swapByUpload: WayIn = {
  name: 'a face swap by upload',
  atOnce: 1,
  must: mustOfSwap,
  tryFile: async ({ path }, around) => {
    const form = await formOf({ mode: 'face' }, { video: path, face_image: around.goodFace });
    return outcomeOf('/v1/face-swap', await postForm('/v1/face-swap', form, around), around);
  },
};

const faceByUrl: WayIn = {
  name: 'a face image by URL',
  atOnce: 1,
  must: mustOfFace,
  tryFile: async ({ path }, around) => {
    const { server, goodVideo } = around;
    const order = {
      video_url: server.put({ file: goodVideo }),
      face_image_url: server.put({ file: path }),
      mode: 'face',
    };
    return outcomeOf('/v1/face-swap', await around.client.post('/v1/face-swap', order), around);
  },
};

const faceByUpload: WayIn = {
  name: 'a face image by upload',
  atOnce: 1,
  must: mustOfFace,
  tryFile: async ({ path }, around) => {
    const { server, goodVideo } = around;
    const form = await formOf({ video_url: server.put({ file: goodVideo }) }, { face_image: path });
    return outcomeOf('/v1/face-swap', await postForm('/v1/face-swap', form, around), around);
  },
};

export const waysIn: readonly WayIn[] = [
  clipByUrl,
  clipByUpload,
  swapByUrl,
  swapByUpload,
  faceByUrl,
  faceByUpload,
];

/** A face swap takes no Matroska by upload, and may find no face in a video of a test pattern. */
function mustOfSwap({ must }: HostileFile): HostileFile['must'] {
  return must === 'play' ? 'end' : must;
}

function mustOfFace({ name }: HostileFile): HostileFile['must'] {
  return /\.(jpg|png)$/.test(name) && name !== 'svg_named.png' ? 'end' : 'fail';
}

async function formOf(
  fields: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [name, path] of Object.entries(files)) {
    form.append(name, await openAsBlob(path), basename(path));
  }
  return form;
}

async function postForm(
  path: string,
  form: FormData,
  { client, baseUrl, limitMs }: Around,
): Promise<Pick<Answer, 'status' | 'body'>> {
  const response = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': client.key },
    body: form,
    signal: AbortSignal.timeout(limitMs),
  });
  return { status: response.status, body: await response.json() };
}

type JobView = {
  readonly status: string;
  readonly error?: string;
  readonly clips?: readonly { readonly status: string; readonly error?: string }[];
};

/** Follows a job that was accepted to its end. */
async function outcomeOf(
  path: '/v1/clip' | '/v1/face-swap',
  created: Pick<Answer, 'status' | 'body'>,
  { client, limitMs }: Around,
): Promise<Outcome> {
  const { job_id: jobId, error } = created.body as { job_id?: string; error?: string };
  if (jobId === undefined) return { words: `${created.status}: ${error}`, completed: false };
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs) {
    await delay(pollPauseMs);
    const job = (await client.get(`${path}/${jobId}`)).body as JobView;
    if (job.status === 'processing') continue;
    const ended = job.clips?.[0] ?? job;
    const completed = ended.status === 'completed';
    return { words: completed ? 'completed' : `${ended.status}: ${ended.error}`, completed };
  }
  return { words: 'still processing', completed: false };
}
