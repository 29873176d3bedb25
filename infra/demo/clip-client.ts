import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** The API as a client uses it: nothing here knows more than the interface says. */

const jobCreated = z.object({ job_id: z.string(), num_clips: z.int(), cost_cents: z.int() });

const finishedClip = z.object({
  clip_id: z.int(),
  status: z.enum(['completed', 'failed']),
  title: z.string().optional(),
  heading: z.string().optional(),
  download_url: z.string().optional(),
  error: z.string().optional(),
});

const jobState = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('processing'),
    progress: z.object({ completed: z.int(), total: z.int() }),
    stage: z.string().optional(),
  }),
  z.object({ status: z.literal('completed'), clips: z.array(finishedClip).min(1) }),
]);

const wallet = z.object({
  balance_cents: z.int(),
  total_spent_cents: z.int(),
  total_topped_up_cents: z.int(),
  active: z.boolean(),
});

export type CreatedJob = z.infer<typeof jobCreated>;
export type FinishedClip = z.infer<typeof finishedClip>;
export type Wallet = z.infer<typeof wallet>;
export type JobProgress = {
  readonly completed: number;
  readonly total: number;
  readonly stage?: string | undefined;
};

/** 40 requests a minute: well below the limit of 60. */
const pollMs = 1_500;
const requestLimitMs = 30_000;
const downloadLimitMs = 10 * 60_000;
/** A service that is busy for longer than this is not about to answer. */
const mostRetries = 20;
const defaultRetrySeconds = 2;

type Client = { readonly baseUrl: string; readonly apiKey: string; readonly signal: AbortSignal };

/** Orders one clip of the video at `videoUrl`. */
export async function createClipJob(client: Client, videoUrl: string): Promise<CreatedJob> {
  const body = { video_url: videoUrl, num_clips: 1, camera_mode: 'standard' };
  return jobCreated.parse(await request(client, '/v1/clip', { method: 'POST', body: JSON.stringify(body) }));
}

/** Asks until the job is done, telling each state on the way. */
export async function awaitClips(
  client: Client,
  jobId: string,
  onProgress: (progress: JobProgress) => void,
): Promise<readonly FinishedClip[]> {
  for (;;) {
    const job = jobState.parse(await request(client, `/v1/clip/${jobId}`));
    if (job.status === 'completed') return job.clips;
    onProgress({ ...job.progress, stage: job.stage });
    await sleep(pollMs, undefined, { signal: client.signal });
  }
}

/** The team's wallet. */
export async function readWallet(client: Client): Promise<Wallet> {
  return wallet.parse(await request(client, '/v1/wallet'));
}

/** Stores what `url` gives as `file`, which appears only once it is whole. */
export async function download(url: string, file: string, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(downloadLimitMs)]);
  const answer = await fetch(url, { signal: limit });
  if (!answer.ok || answer.body === null) throw new Error(`the download answered ${answer.status}: ${url}`);
  try {
    await pipeline(Readable.fromWeb(answer.body), createWriteStream(`${file}.part`), { signal: limit });
    await rename(`${file}.part`, file);
  } finally {
    await rm(`${file}.part`, { force: true });
  }
}

/** One request; the service's 429 and 503 are repeated when it says, with the same Idempotency-Key. */
async function request(
  client: Client,
  path: string,
  init: { readonly method?: string; readonly body?: string } = {},
): Promise<unknown> {
  const headers = {
    'x-api-key': client.apiKey,
    ...(init.body !== undefined && {
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    }),
  };
  for (let retries = 0; ; retries++) {
    const signal = AbortSignal.any([client.signal, AbortSignal.timeout(requestLimitMs)]);
    const answer = await fetch(`${client.baseUrl}${path}`, { ...init, headers, signal });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    if ((answer.status !== 429 && answer.status !== 503) || retries === mostRetries) {
      throw new Error(`${init.method ?? 'GET'} ${path} answered ${answer.status}: ${text}`);
    }
    const seconds = Number(answer.headers.get('retry-after')) || defaultRetrySeconds;
    await sleep(seconds * 1_000, undefined, { signal: client.signal });
  }
}
