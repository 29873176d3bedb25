import { randomUUID } from 'node:crypto';
import type { Appender } from '#infra/kafka/appender.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { readLog } from '#infra/kafka/log-reader.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import { cloudEventHeaders } from '#schemas/cloud-event-headers.ts';
import { type AnyRecord, decodeRecord, encodeRecord } from '#schemas/codec.ts';
import type {
  ClipCompleted,
  ClipFailed,
  ClipOptions,
  JobRequested,
  SwapCompleted,
  SwapFailed,
} from '#schemas/records.ts';
import type { Topic } from '#schemas/topics.ts';
import { plainClipOptions } from '#test/plain-clip-options.ts';
import { until } from '#test/stack/poll.ts';

export type LoggedRecord = AnyRecord & { readonly headers: ReadRecord['headers'] };
export type TerminalEvent =
  | { readonly name: 'ClipCompleted'; readonly value: ClipCompleted }
  | { readonly name: 'ClipFailed'; readonly value: ClipFailed };

export type SwapEnd =
  | { readonly name: 'SwapCompleted'; readonly value: SwapCompleted }
  | { readonly name: 'SwapFailed'; readonly value: SwapFailed };

let nextClipId = 1;

const plainOptions: ClipOptions = {
  ...plainClipOptions,
  video_url: 'http://127.0.0.1/video.mp4',
  camera_mode: 'center-crop',
  style: 'general',
  auto_heading: false,
};

/** A paid job as the ledger would request it. */
export function requestedJob(
  about: { clips?: number; teamId?: number; videoUrl?: string; deadlineInMs?: number } = {},
): JobRequested {
  const { clips = 1, teamId = 1, videoUrl = plainOptions.video_url, deadlineInMs = 600_000 } = about;
  const firstClipId = nextClipId;
  nextClipId += clips;
  return {
    event_id: randomUUID(),
    job_id: randomUUID(),
    team_id: teamId,
    debit_id: randomUUID(),
    occurred_at: Date.now(),
    actor: 'operator:test',
    kind: 'clip',
    item_count: clips,
    item_cents: 150,
    first_clip_id: firstClipId,
    clip_id_step: 1,
    deadline_at: Date.now() + deadlineInMs,
    clip: { ...plainOptions, num_clips: clips, video_url: videoUrl },
    face_swap: null,
    callback_url: null,
  };
}

/** A paid face swap as the ledger would request it. */
export function requestedSwap(
  about: { mode?: 'face' | 'fullbody'; teamId?: number; seconds?: number } = {},
): JobRequested {
  const { mode = 'fullbody', teamId = 1, seconds = 10 } = about;
  return {
    ...requestedJob({ teamId }),
    kind: 'face_swap',
    item_count: 1,
    item_cents: seconds * 20,
    first_clip_id: null,
    clip: null,
    face_swap: {
      video_url: 'http://127.0.0.1/video.mp4',
      video_object_key: null,
      face_image_url: 'http://127.0.0.1/face.jpg',
      face_image_object_key: null,
      mode,
      duration_seconds: seconds,
    },
  };
}

/** The terminal events of a face swap, in the order of the log. */
export async function swapEnds(kafka: KafkaConnection, jobId: string): Promise<readonly SwapEnd[]> {
  return (await recordsIn(kafka, 'job.events')).filter(
    (record) =>
      (record.name === 'SwapCompleted' || record.name === 'SwapFailed') && record.value.job_id === jobId,
  ) as readonly SwapEnd[];
}

/** Waits until the swap has ended, and gives its first terminal event. */
export const untilSwapEnded = (kafka: KafkaConnection, jobId: string, limitMs: number): Promise<SwapEnd> =>
  until('the swap has ended', limitMs, async () => (await swapEnds(kafka, jobId))[0]);

/** Appends the jobs' requests to `job.events`. */
export async function requestJobs(appender: Appender, jobs: readonly JobRequested[]): Promise<void> {
  await appender.append(
    jobs.map((job) => ({
      topic: 'job.events',
      key: job.job_id,
      value: encodeRecord('JobRequested', job),
      headers: cloudEventHeaders({
        id: job.event_id,
        type: 'JobRequested',
        source: 'ledger',
        timeMs: job.occurred_at,
        subject: job.job_id,
        correlationId: job.job_id,
      }),
    })),
  );
}

/** Everything in `topic`, decoded, each partition in its order. */
export async function recordsIn(kafka: KafkaConnection, topic: Topic): Promise<readonly LoggedRecord[]> {
  const found: LoggedRecord[] = [];
  for await (const { records } of readLog(kafka, { topics: [topic] })) {
    for (const { value, headers } of records) found.push({ ...decodeRecord(value), headers });
  }
  return found;
}

/** The terminal events of each clip (`<job>/<item>`), in the order of the log. */
export async function terminalEvents(
  kafka: KafkaConnection,
): Promise<ReadonlyMap<string, readonly TerminalEvent[]>> {
  const byClip = new Map<string, TerminalEvent[]>();
  for (const record of await recordsIn(kafka, 'job.events')) {
    if (record.name !== 'ClipCompleted' && record.name !== 'ClipFailed') continue;
    const clip = `${record.value.job_id}/${record.value.item}`;
    byClip.set(clip, [...(byClip.get(clip) ?? []), record]);
  }
  return byClip;
}

/** Waits until every clip of the jobs has ended, and gives the first terminal event of each, by clip. */
export async function untilEnded(
  kafka: KafkaConnection,
  jobs: readonly JobRequested[],
  limitMs: number,
): Promise<ReadonlyMap<string, TerminalEvent>> {
  const clips = jobs.flatMap((job) =>
    Array.from({ length: job.item_count }, (_, item) => `${job.job_id}/${item}`),
  );
  return until('every clip has ended', limitMs, async () => {
    const events = await terminalEvents(kafka);
    const ended = new Map<string, TerminalEvent>();
    for (const clip of clips) {
      const first = events.get(clip)?.[0];
      if (first === undefined) return undefined;
      ended.set(clip, first);
    }
    return ended;
  });
}
