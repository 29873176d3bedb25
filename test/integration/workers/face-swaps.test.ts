import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { decodeRecord, encodeRecord } from '#schemas/codec.ts';
import { cancelledCode } from '#schemas/failure-codes.ts';
import type { JobRequested, SwapTask } from '#schemas/records.ts';
import { until } from '#test/stack/poll.ts';
import { createTenant } from '#test/stack/tenant.ts';
import type { ClipPipeline } from '#workers/runtime/job-parts.ts';
import type { Worker } from '#workers/runtime/worker.ts';
import type { SwapMaking } from '#workers/swap/runtime/swap-parts.ts';
import { recordsIn, requestedSwap, requestJobs, swapEnds, untilSwapEnded } from './job-log.ts';
import { openSurroundings, startTestWorker, type WorkerSurroundings } from './running-worker.ts';
import { scriptedPipeline } from './scripted-pipeline.ts';
import { type SwapScript, scriptedResult, scriptedSwaps } from './scripted-swaps.ts';

let around: WorkerSurroundings;
let worker: Worker | undefined;

beforeAll(async () => {
  around = await openSurroundings({ ...process.env, ...(await createTenant()).env });
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
});
afterAll(() => around?.close());

/** A worker with these scripts, and how often each of its calls was made. */
async function startWorker(script: SwapScript, clips: Partial<ClipPipeline> = {}) {
  const { pipeline } = scriptedPipeline({ renderMs: 0 });
  const counts = new Map<string, number>();
  const swaps = counted(scriptedSwaps(script), counts);
  worker = await startTestWorker(around, { ...pipeline, ...clips }, { swaps });
  return counts;
}

function counted(making: SwapMaking, counts: Map<string, number>): SwapMaking {
  const pipeline = Object.fromEntries(
    Object.entries(making.pipeline).map(([name, call]) => [
      name,
      (...input: never[]) => {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        return (call as (...input: never[]) => unknown)(...input);
      },
    ]),
  );
  return { ...making, pipeline: pipeline as unknown as SwapMaking['pipeline'] };
}

async function endOf(job: JobRequested) {
  await requestJobs(around.appender, [job]);
  return untilSwapEnded(around.kafka, job.job_id, 60_000);
}

async function objectsOf(jobId: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for (const prefix of [`jobs/${jobId}/`, `uploads/${jobId}/`, `results/${jobId}/`])
    for await (const { key } of around.storage.list(prefix)) keys.push(key);
  return keys.toSorted();
}

const untilOnly = (jobId: string, keys: readonly string[]) =>
  until('only these objects are left', 20_000, async () => {
    const found = await objectsOf(jobId);
    return found.join() === keys.map((key) => `results/${jobId}/${key}`).join() ? true : undefined;
  });

async function tasksOf(jobId: string): Promise<readonly SwapTask[]> {
  const records = await recordsIn(around.kafka, 'job.tasks');
  return records.flatMap(({ name, value }) => (name === 'SwapTask' && value.job_id === jobId ? [value] : []));
}

const sendTask = (task: SwapTask) =>
  around.appender.append([{ topic: 'job.tasks', key: task.task_id, value: encodeRecord('SwapTask', task) }]);

const fetched = ({ face_swap: options }: JobRequested) =>
  [`the source at ${options?.video_url}`, `the face at ${options?.face_image_url}`] as const;
const result = async (jobId: string) =>
  (await around.storage.getBytes(`results/${jobId}/face-swap.mp4`, 1_000_000)).toString();

const finished = ['face-swap.json', 'face-swap.mp4', 'face-swap.png'];

test('mode face is one task; its end names the engine and what was missed', async () => {
  const calls = await startWorker({ segments: 2 });
  const job = requestedSwap({ mode: 'face' });
  expect(await endOf(job)).toMatchObject({
    name: 'SwapCompleted',
    value: {
      mode: 'face',
      engine: 'landmark',
      debit_id: job.debit_id,
      swapped_frame_count: 48,
      segment_count: 2,
    },
  });
  expect((await tasksOf(job.job_id)).map(({ task_id: id, segment }) => [id, segment])).toEqual([
    [`${job.job_id}/swap/whole`, null],
  ]);
  const [video, face] = fetched(job);
  expect(await result(job.job_id)).toBe(`whole of ${video} with ${face}`);
  await untilOnly(job.job_id, finished);
  expect(calls.get('swapWhole')).toBe(1);
  const progress = (await recordsIn(around.kafka, 'job.progress')).flatMap(({ name, value }) =>
    name === 'JobProgressed' && value.job_id === job.job_id ? [value.fraction] : [],
  );
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
});

test('uploads are used where they are, and gone with the job', async () => {
  await startWorker({ segments: 2 });
  const job = requestedSwap();
  const [videoKey, faceKey] = [`uploads/${job.job_id}/video`, `uploads/${job.job_id}/face_image`];
  const type = { contentType: 'application/octet-stream' };
  await around.storage.putBytes(videoKey, Buffer.from('a video'), type);
  await around.storage.putBytes(faceKey, Buffer.from('a face'), type);
  const uploaded = {
    video_url: null,
    video_object_key: videoKey,
    face_image_url: null,
    face_image_object_key: faceKey,
  };
  if (job.face_swap === null) throw new Error('The job has no options.');
  const end = await endOf({ ...job, face_swap: { ...job.face_swap, ...uploaded } });
  expect(end.name).toBe('SwapCompleted');
  expect(await result(job.job_id)).toBe(scriptedResult(2, 'a video', 'a face'));
  await untilOnly(job.job_id, finished);
});

test('a video that is longer than was paid for fails, to the millisecond', async () => {
  const calls = await startWorker({ segments: 1, durationMs: 10_001 });
  const end = await endOf(requestedSwap({ seconds: 10 }));
  expect(end).toMatchObject({
    name: 'SwapFailed',
    value: {
      code: 'source_too_long',
      error: expect.stringMatching(/10\.001 s long now.*10 s when it was ordered/),
    },
  });
  expect(await tasksOf(end.value.job_id)).toEqual([]);
  await untilOnly(end.value.job_id, ['face-swap.json']);
  expect(calls.get('scanFaces')).toBeUndefined();
});

test("a platform's lengths are whole seconds: up to one more is no longer video", async () => {
  const { fetchSource } = scriptedPipeline({ renderMs: 0 }).pipeline;
  const titled: ClipPipeline['fetchSource'] = async (input, context) => ({
    ...(await fetchSource(input, context)),
    title: 'A talk',
  });
  await startWorker({ segments: 1, durationMs: 10_999 }, { fetchSource: titled });
  expect((await endOf(requestedSwap({ seconds: 10 }))).name).toBe('SwapCompleted');
  expect((await endOf(requestedSwap({ seconds: 9 }))).name).toBe('SwapFailed');
});

test('a photo that will not do fails the job with what would, before the video is fetched', async () => {
  const sentence = 'The face image shows no face: send a photo of one face from the front.';
  const fetchSource = async () => {
    throw new Error('The video was fetched.');
  };
  const onExamine = () => {
    throw new MediaFailure('FACE_NOT_USABLE', sentence);
  };
  await startWorker({ segments: 1, onExamine }, { fetchSource });
  expect((await endOf(requestedSwap())).value).toMatchObject({ code: 'face_not_usable', error: sentence });
});

test('a segment that cannot be swapped ends the job once, and leaves nothing behind', async () => {
  const onSegment = (segment: number) => {
    if (segment === 1) throw new MediaFailure('UNREADABLE', 'The video is broken.');
  };
  await startWorker({ segments: 4, onSegment, segmentMs: 200 });
  const end = await endOf(requestedSwap());
  expect(end).toMatchObject({ name: 'SwapFailed', value: { code: 'unreadable' } });
  await untilOnly(end.value.job_id, ['face-swap.json']);
  const ids = (await swapEnds(around.kafka, end.value.job_id)).map(({ value }) => value.event_id);
  expect(new Set(ids).size).toBe(1);
});

test('a task that is delivered again repeats the end of its job, and no work', async () => {
  const calls = await startWorker({ segments: 2 });
  const job = requestedSwap();
  const end = await endOf(job);
  const before = new Map(calls);
  const [task] = await tasksOf(job.job_id);
  if (task === undefined) throw new Error('The job has no task.');
  await sendTask(task);
  await requestJobs(around.appender, [job]);
  await until('both repeat the end', 30_000, async () =>
    (await swapEnds(around.kafka, job.job_id)).length >= 3 ? true : undefined,
  );
  for (const { name, value } of await swapEnds(around.kafka, job.job_id))
    expect({ name, value }).toEqual({ name: end.name, value: end.value });
  expect(calls).toEqual(before);
});

test('a segment that keeps failing is put aside, and driven again makes all that is missing', async () => {
  let isBroken = true;
  const onSegment = (segment: number) => {
    if (segment === 0 && isBroken) throw new TypeError('a fault of ours');
  };
  await startWorker({ segments: 3, onSegment });
  const job = requestedSwap();
  expect(await endOf(job)).toMatchObject({
    name: 'SwapFailed',
    value: { code: 'internal', error: 'The face swap could not be made because of an internal error.' },
  });
  const dead = await until('the task is put aside', 20_000, async () =>
    (await recordsIn(around.kafka, 'job.dead')).find(
      ({ name, value }) => name === 'DeadTask' && value.task_id === `${job.job_id}/swap/0`,
    ),
  );
  const again = dead.name === 'DeadTask' ? decodeRecord(dead.value.task) : undefined;
  if (again?.name !== 'SwapTask') throw new Error('The dead task is none of a swap.');
  isBroken = false;
  await sendTask({ ...again.value, attempt: 2 });
  await until('the swap is made after all', 30_000, async () =>
    (await swapEnds(around.kafka, job.job_id)).find(({ name }) => name === 'SwapCompleted'),
  );
  expect(await result(job.job_id)).toBe(scriptedResult(3, ...fetched(job)));
});

test('a swap that is called off stops at once; its objects are gone and its end is kept', async () => {
  const calls = await startWorker({ segments: 4, segmentMs: 600_000 });
  const job = requestedSwap();
  await requestJobs(around.appender, [job]);
  await until('segments are swapped', 30_000, () => (calls.get('swapSegment') === 2 ? true : undefined));
  const cancelled = {
    ...{ event_id: randomUUID(), job_id: job.job_id, team_id: job.team_id, debit_id: job.debit_id },
    ...{ occurred_at: Date.now(), code: cancelledCode, error: 'Cancelled.' },
  };
  await around.appender.append([
    { topic: 'job.events', key: job.job_id, value: encodeRecord('SwapFailed', cancelled) },
  ]);
  await untilOnly(job.job_id, ['face-swap.json']);
  const [task] = await tasksOf(job.job_id);
  if (task === undefined) throw new Error('The job has no task.');
  await worker?.stop();
  // Another worker, which never heard of it.
  const later = await startWorker({ segments: 4 });
  await sendTask(task);
  await until('the end is repeated', 30_000, async () =>
    (await swapEnds(around.kafka, job.job_id)).length >= 2 ? true : undefined,
  );
  for (const { value } of await swapEnds(around.kafka, job.job_id)) expect(value).toEqual(cancelled);
  expect(later.get('swapSegment')).toBeUndefined();
});
