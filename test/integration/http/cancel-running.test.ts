import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { openAppender } from '#infra/kafka/appender.ts';
import { runLimited } from '#infra/media/limited-process.ts';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { encodeRecord } from '#schemas/codec.ts';
import type { RenderClipTask } from '#schemas/records.ts';
import { JobCancelled } from '#workers/runtime/cancellations.ts';
import type { ClipPipeline } from '#workers/runtime/job-parts.ts';
import type { Worker } from '#workers/runtime/worker.ts';
import { ApiFixture, type ApiInstance, type Team, until } from '../api-fixture.ts';
import { audit } from '../audit/running-audit.ts';
import { orderClips } from '../clip-jobs.ts';
import { recordsIn } from '../workers/job-log.ts';
import { startTestWorker } from '../workers/running-worker.ts';
import { scriptedPipeline } from '../workers/scripted-pipeline.ts';

let fixture: ApiFixture;
let api: ApiInstance;
let storage: ObjectStorage;
let workers: Worker[] = [];

beforeAll(async () => {
  fixture = await ApiFixture.open({ RATE_LIMIT_PER_MINUTE: '10000', LOG_LEVEL: 'silent' });
  api = await fixture.startApi();
  storage = ObjectStorage.connect(storageSettings(parseConfig(fixture.environment)));
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
});
afterAll(async () => {
  storage?.close();
  await fixture?.close();
});

async function startWorker(pipeline: ClipPipeline, concurrency = 2): Promise<void> {
  const { environment, kafka } = fixture;
  workers.push(
    await startTestWorker({ config: parseConfig(environment), kafka, storage }, pipeline, { concurrency }),
  );
}

const createClips = (team: Team, count: number) => orderClips(api, team, count);

async function cancel(team: Team, jobId: string) {
  for (;;) {
    const answer = await api.request('DELETE', `/v1/clip/${jobId}`, { key: team.key });
    if (answer.status !== 202 && answer.status !== 503) return answer;
  }
}

async function objectsOf(jobId: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for (const prefix of [`jobs/${jobId}/`, `results/${jobId}/`])
    for await (const { key } of storage.list(prefix)) keys.push(key);
  return keys;
}

/** What a client could still be handed, or that only wastes room: all but the notes on how clips ended. */
const untilCleanedUp = (jobId: string) =>
  until('all objects of the job are gone', async () =>
    (await objectsOf(jobId)).every((key) => key.startsWith('results/') && key.endsWith('.json')),
  );

const allRefunded = (count: number) => ({
  status: 200,
  body: { status: 'completed', cancelled_clips: count, refunded_cents: count * 150 },
});

/** A pipeline whose renders are real ffmpeg processes that would take an hour, under the worker's own limits. */
async function endlessRenders() {
  const tools = await locateMediaTools(parseConfig(fixture.environment), process.env['PATH'] ?? '');
  const { pipeline, calls } = scriptedPipeline({ renderMs: 0 });
  const outputs: string[] = [];
  const renderClip: ClipPipeline['renderClip'] = async (_input, { taskFolder, signal }) => {
    const output = join(taskFolder, 'half.mp4');
    outputs.push(output);
    const args = ['-nostdin', '-re', '-f', 'lavfi', '-i', 'color=size=64x64:rate=5', '-t', '3600', output];
    const limits = {
      wallMs: 3_600_000,
      memory: { kind: 'addressSpace', bytes: 2 ** 32 },
      fileBytes: 2 ** 30,
    } as const;
    await runLimited({ tools, program: tools.ffmpegPath, args, cwd: taskFolder, limits, signal });
    throw new Error('The render ended by itself.');
  };
  return { pipeline: { ...pipeline, renderClip }, calls, outputs };
}

/** The processes that write one of these files. */
async function processesWriting(outputs: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-Ao', 'pid=,args='], { maxBuffer: 2 ** 24 });
  return stdout.split('\n').filter((line) => outputs.some((output) => line.includes(output)));
}

test('a render that runs is stopped: its process, its folder and its objects are gone', async () => {
  const team = await fixture.createTeam({ cents: 1_000 });
  const { pipeline, outputs } = await endlessRenders();
  await startWorker(pipeline, 2);
  const jobId = await createClips(team, 3);
  await until('two renders to run', async () => (await processesWriting(outputs)).length >= 2);
  expect(await cancel(team, jobId)).toMatchObject(allRefunded(3));
  await until('the processes to be gone', async () => (await processesWriting(outputs)).length === 0);
  await until('the folders to be gone', async () => !outputs.some((output) => existsSync(dirname(output))));
  await untilCleanedUp(jobId);
  // The third clip waited for a slot, and did not start when there was one.
  expect(outputs).toHaveLength(2);
  const { rows } = await fixture.pool.query(
    'SELECT balance_cents FROM read_model.wallets WHERE team_id = $1',
    [team.teamId],
  );
  expect(rows).toEqual([{ balance_cents: 1_000 }]);
});

test('a source that is being fetched is given up, and no task of the job is ever made', async () => {
  const team = await fixture.createTeam({ cents: 1_000 });
  const { pipeline, calls } = scriptedPipeline({ renderMs: 0 });
  const fetching = Promise.withResolvers<AbortSignal>();
  const fetchSource: ClipPipeline['fetchSource'] = async (_input, { signal }) => {
    fetching.resolve(signal);
    await once(signal, 'abort');
    throw signal.reason;
  };
  await startWorker({ ...pipeline, fetchSource });
  const jobId = await createClips(team, 2);
  const signal = await fetching.promise;
  expect(await cancel(team, jobId)).toMatchObject(allRefunded(2));
  await until('the fetch to be stopped', async () => signal.aborted);
  expect(signal.reason).toBeInstanceOf(JobCancelled);
  await untilCleanedUp(jobId);
  expect([calls.planned, calls.rendered]).toEqual([0, 0]);
  expect(await tasksOf(jobId)).toEqual([]);
});

test('a worker that starts later works on nothing of it, and keeps how its clips ended', async () => {
  const team = await fixture.createTeam({ cents: 1_000 });
  const { pipeline, calls } = scriptedPipeline({ renderMs: 0 });
  const jobId = await createClips(team, 2);
  expect(await cancel(team, jobId)).toMatchObject(allRefunded(2));
  await startWorker(pipeline);
  await until('the outcomes', async () => (await objectsOf(jobId)).length === 2);
  await untilCleanedUp(jobId);
  expect(calls.rendered).toBe(0);
  expect(await tasksOf(jobId)).toEqual([]);
});

test('a task that is delivered again after the cancellation repeats it and renders nothing', async () => {
  const team = await fixture.createTeam({ cents: 1_000 });
  const { pipeline, outputs } = await endlessRenders();
  await startWorker(pipeline);
  const jobId = await createClips(team, 1);
  await until('the render to run', async () => (await processesWriting(outputs)).length > 0);
  expect(await cancel(team, jobId)).toMatchObject(allRefunded(1));
  await untilCleanedUp(jobId);
  await until('the outcome', async () => (await objectsOf(jobId)).length === 1);
  await Promise.all(workers.map((worker) => worker.stop()));
  // Another worker, which never heard of the cancellation, gets the same task.
  workers = [];
  const later = scriptedPipeline({ renderMs: 0 });
  await startWorker(later.pipeline);
  const [task] = await tasksOf(jobId);
  if (task === undefined) throw new Error('The job has no task.');
  const appender = await openAppender(fixture.kafka, { log: fixture.log });
  await appender.append([
    { topic: 'job.tasks', key: task.task_id, value: encodeRecord('RenderClipTask', task) },
  ]);
  await appender.close();
  const endsOf = async () =>
    (await recordsIn(fixture.kafka, 'job.events')).filter(
      ({ name, value }) => name !== 'JobRequested' && 'job_id' in value && value.job_id === jobId,
    );
  await until('the outcome to be repeated', async () => (await endsOf()).length === 2);
  const [end, again] = await endsOf();
  expect(end?.name).toBe('ClipFailed');
  expect(again?.value).toEqual(end?.value);
  expect(later.calls.rendered).toBe(0);
});

async function tasksOf(jobId: string): Promise<readonly RenderClipTask[]> {
  const tasks: RenderClipTask[] = [];
  for (const { name, value } of await recordsIn(fixture.kafka, 'job.tasks'))
    if (name === 'RenderClipTask' && value.job_id === jobId) tasks.push(value);
  return tasks;
}

test('the ledger is right after all of this', async () => {
  expect(await audit(fixture.environment, 'verify')).toMatchObject({ exitCode: 0, error: '' });
});
