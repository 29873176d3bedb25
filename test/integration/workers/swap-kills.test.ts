import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#test/stack/poll.ts';
import { createTenant } from '#test/stack/tenant.ts';
import { storedSegments } from '#workers/swap/runtime/stored-swap.ts';
import { recordsIn, requestedSwap, requestJobs, swapEnds, untilSwapEnded } from './job-log.ts';
import { openSurroundings, type WorkerSurroundings } from './running-worker.ts';
import { scriptedResult } from './scripted-swaps.ts';
import { startWorkerProcess, stopProcess } from './worker-processes.ts';

let environment: Readonly<Record<string, string | undefined>>;
let around: WorkerSurroundings;
let callsFile: string;
const workers: ChildProcess[] = [];

beforeAll(async () => {
  const tenant = await createTenant();
  const { runFolder } = tenant.platform;
  callsFile = join(runFolder, 'swap-calls');
  environment = { ...process.env, ...tenant.env, TMPDIR: runFolder, SWAP_CALLS_FILE: callsFile };
  around = await openSurroundings(environment);
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => stopProcess(worker, 'SIGTERM')));
  await around?.close();
});

/** What was called so far: `segment-3` and by which process. */
async function calls(): Promise<readonly { what: string; pid: number }[]> {
  const text = await readFile(callsFile, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '))
    .map(([what = '', pid]) => ({ what, pid: Number(pid) }));
}

const swapsOf = async (segment: number) =>
  (await calls()).filter(({ what }) => what === `segment-${segment}`).length;

test('a full-body swap survives the death of workers in the middle, and only what was not done is repeated', async () => {
  workers.push(startWorkerProcess(environment), startWorkerProcess(environment));
  const job = requestedSwap();
  await requestJobs(around.appender, [job]);
  const stored = () => storedSegments(around.storage, job.job_id, new AbortController().signal);

  await until('some segments are there', 60_000, async () => ((await stored()).size >= 3 ? true : undefined));
  const [victim] = workers;
  if (victim === undefined) throw new Error('There is no worker.');
  await stopProcess(victim, 'SIGKILL');
  const done = [...(await stored())];
  const callsOfDone = await Promise.all(done.map(swapsOf));
  workers[0] = startWorkerProcess(environment);

  // Then the one that puts the segments together dies over it.
  const stitcher = await until('somebody stitches', 90_000, async () =>
    (await calls()).find(({ what }) => what === 'stitch'),
  );
  const stitching = workers.findIndex(({ pid }) => pid === stitcher.pid);
  const stitchingWorker = workers[stitching];
  if (stitchingWorker === undefined) throw new Error('Somebody else stitches.');
  await stopProcess(stitchingWorker, 'SIGKILL');
  workers[stitching] = startWorkerProcess(environment);

  const end = await untilSwapEnded(around.kafka, job.job_id, 90_000);
  expect(end).toMatchObject({
    name: 'SwapCompleted',
    value: {
      engine: 'landmark',
      mode: 'fullbody',
      segment_count: 8,
      swapped_frame_count: 8 * 24,
      missed_frame_count: 8,
      notes: ['The largest of 2 faces in the image was used.'],
    },
  });
  const { object_key: key = '' } = end.name === 'SwapCompleted' ? end.value : {};
  const { video_url: video, face_image_url: face } = job.face_swap ?? {};
  expect((await around.storage.getBytes(key, 1_000_000)).toString()).toBe(
    scriptedResult(8, `the source at ${video}`, `the face at ${face}`),
  );
  expect(await Promise.all(done.map(swapsOf))).toEqual(callsOfDone);
  expect(await recordsIn(around.kafka, 'job.dead')).toEqual([]);
  const ids = (await swapEnds(around.kafka, job.job_id)).map(({ value }) => value.event_id);
  expect(new Set(ids).size).toBe(1);
});
