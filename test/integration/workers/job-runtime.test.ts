import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '#infra/log.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { openSourceAccess, type SourceAccess } from '#infra/sources/source-access.ts';
import { derivedUuid } from '#schemas/ids.ts';
import type { JobRequested } from '#schemas/records.ts';
import { runJson } from '#test/stack/command.ts';
import { until } from '#test/stack/poll.ts';
import { createTenant, type Tenant } from '#test/stack/tenant.ts';
import { fetchSource } from '#workers/clip/pipeline.ts';
import type { Worker } from '#workers/runtime/worker.ts';
import { recordsIn, requestedJob, requestJobs, terminalEvents, untilEnded } from './job-log.ts';
import { openSurroundings, startTestWorker, type WorkerSurroundings } from './running-worker.ts';
import { scriptedPipeline } from './scripted-pipeline.ts';

const limitMs = 30_000;

let tenant: Tenant;
let around: WorkerSurroundings;
let webServer: Server;
let origin: string;
let sources: SourceAccess;
let workers: Worker[] = [];

beforeAll(async () => {
  webServer = createServer((_, response) => response.writeHead(404).end());
  await new Promise<void>((listening) => webServer.listen(0, '127.0.0.1', listening));
  const address = `127.0.0.1:${(webServer.address() as AddressInfo).port}`;
  origin = `http://${address}`;
  tenant = await createTenant();
  around = await openSurroundings({ ...tenant.env, EGRESS_ALLOW: address, PATH: process.env['PATH'] });
  sources = await openSourceAccess(around.config, createLogger(around.config, 'test'));
});

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
});

afterAll(async () => {
  await sources?.close();
  await around?.close();
  webServer.close();
});

async function startedWorker(
  ...args: Parameters<typeof startTestWorker> extends [unknown, ...infer R] ? R : never
) {
  const worker = await startTestWorker(around, ...args);
  workers.push(worker);
  return worker;
}

async function keysUnder(prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of around.storage.list(prefix)) keys.push(key);
  return keys.sort();
}

function withMusic(job: JobRequested, musicUrl: string): JobRequested {
  return job.clip === null ? job : { ...job, clip: { ...job.clip, music_url: musicUrl } };
}

const untilCleaned = (jobId: string) =>
  until('the intermediates are deleted', limitMs, async () =>
    (await keysUnder(`jobs/${jobId}/`)).length === 0 ? true : undefined,
  );

describe('a job', () => {
  test('becomes finished clips, and its source and plan are deleted', async () => {
    await startedWorker(scriptedPipeline({ renderMs: 10 }).pipeline);
    const job = requestedJob({ clips: 3 });
    await requestJobs(around.appender, [job]);
    const ended = await untilEnded(around.kafka, [job], limitMs);
    const [clip] = [...ended.values()];
    expect([...ended.values()].map(({ name }) => name)).toEqual(Array(3).fill('ClipCompleted'));
    const clipId = job.first_clip_id ?? 0;
    expect(clip?.value).toMatchObject({
      event_id: derivedUuid(job.job_id, 'clip:0:completed'),
      debit_id: job.debit_id,
      clip_id: clipId,
      object_key: `results/${job.job_id}/${clipId}.mp4`,
      sheet_object_key: `results/${job.job_id}/${clipId}.png`,
      title: 'Clip 0',
      source_start_ms: 0,
      source_end_ms: 900,
    });
    await untilCleaned(job.job_id);
    expect(await keysUnder(`results/${job.job_id}/${clipId}.`)).toEqual(
      ['json', 'mp4', 'plan.json', 'png', 'source.png'].map(
        (kind) => `results/${job.job_id}/${clipId}.${kind}`,
      ),
    );
  });

  test('leaves records whose headers lead back to the request', async () => {
    await startedWorker(scriptedPipeline({ renderMs: 10 }).pipeline);
    const job = requestedJob();
    await requestJobs(around.appender, [job]);
    await untilEnded(around.kafka, [job], limitMs);
    const ofJob = async (topic: 'job.tasks' | 'job.events') =>
      (await recordsIn(around.kafka, topic)).filter(
        (record) => 'job_id' in record.value && record.value.job_id === job.job_id,
      );
    const [task] = await ofJob('job.tasks');
    const completed = (await ofJob('job.events')).find(({ name }) => name === 'ClipCompleted');
    expect(task?.headers).toMatchObject({ correlation_id: job.job_id, causation_id: job.event_id });
    expect(completed?.headers).toMatchObject({
      ce_type: 'clipledger.ClipCompleted',
      correlation_id: job.job_id,
      causation_id: task?.headers['ce_id'],
    });
  });

  test('says where it is', async () => {
    await startedWorker(scriptedPipeline({ renderMs: 10 }).pipeline);
    const job = requestedJob();
    await requestJobs(around.appender, [job]);
    await until('progress is told', limitMs, async () =>
      (await recordsIn(around.kafka, 'job.progress')).find(
        ({ name, value }) =>
          name === 'JobProgressed' && value.job_id === job.job_id && value.stage === 'fetch',
      ),
    );
  });

  test('whose source gives fewer clips than asked ends with the rest failed and the reason', async () => {
    await startedWorker(scriptedPipeline({ renderMs: 10, missing: [1, 2] }).pipeline);
    const job = requestedJob({ clips: 3 });
    await requestJobs(around.appender, [job]);
    const ended = await untilEnded(around.kafka, [job], limitMs);
    expect([...ended.values()].map(({ name }) => name).sort()).toEqual([
      'ClipCompleted',
      'ClipFailed',
      'ClipFailed',
    ]);
    expect(ended.get(`${job.job_id}/2`)?.value).toMatchObject({
      code: 'not_enough_material',
      error: 'The video is too short for another clip.',
    });
    await untilCleaned(job.job_id);
  });

  test('with music has it fetched once, for all its clips', async () => {
    const { pipeline, calls } = scriptedPipeline({ renderMs: 10 });
    await startedWorker(pipeline);
    const job = withMusic(requestedJob({ clips: 2 }), 'https://music.example/song.mp3');
    await requestJobs(around.appender, [job]);
    const ended = await untilEnded(around.kafka, [job], limitMs);
    expect([...ended.values()].map(({ name }) => name)).toEqual(Array(2).fill('ClipCompleted'));
    expect(calls.music).toBe(1);
    const clip = await around.storage.getBytes(`results/${job.job_id}/${job.first_clip_id}.mp4`, 1_000);
    expect(clip.toString()).toBe('clip 0 of 2 with the music at https://music.example/song.mp3');
    await untilCleaned(job.job_id);
  });

  test('whose music cannot be had fails in all clips, and never goes without', async () => {
    const { pipeline, calls } = scriptedPipeline({ renderMs: 10 });
    const fetchMusic = async () => {
      throw new MediaFailure('MUSIC_UNUSABLE', 'The music is a web page.');
    };
    await startedWorker({ ...pipeline, fetchMusic });
    const job = withMusic(requestedJob({ clips: 2 }), 'https://music.example/page.html');
    await requestJobs(around.appender, [job]);
    const ended = await untilEnded(around.kafka, [job], limitMs);
    for (const { name, value } of ended.values()) {
      expect(name).toBe('ClipFailed');
      expect(value).toMatchObject({ code: 'music_unusable', error: 'The music is a web page.' });
    }
    expect(calls).toMatchObject({ fetched: 0, rendered: 0 });
  });

  test('whose source does not exist fails in all clips, with a sentence that says so', async () => {
    const { pipeline } = scriptedPipeline({ renderMs: 10 });
    await startedWorker({
      ...pipeline,
      fetchSource: (input, context) => fetchSource(input, context, sources),
    });
    const job = requestedJob({ clips: 2, videoUrl: `${origin}/no-such-video.mp4` });
    await requestJobs(around.appender, [job]);
    const ended = await untilEnded(around.kafka, [job], limitMs);
    for (const { name, value } of ended.values()) {
      expect(name).toBe('ClipFailed');
      expect(value).toMatchObject({ code: 'source_not_found' });
      expect('error' in value ? value.error : '').toMatch(/^[A-Z].*404.*\.$|^[A-Z].*not.*\.$/);
    }
  });

  test('past its deadline is not started and fails', async () => {
    const { pipeline, calls } = scriptedPipeline({ renderMs: 10 });
    const job = requestedJob({ clips: 2, deadlineInMs: -1_000 });
    await requestJobs(around.appender, [job]);
    await startedWorker(pipeline);
    const ended = await untilEnded(around.kafka, [job], limitMs);
    expect([...ended.values()].map(({ value }) => 'code' in value && value.code)).toEqual([
      'deadline',
      'deadline',
    ]);
    expect(calls.fetched).toBe(0);
  });

  test('that is still rendered at its deadline is stopped and fails', async () => {
    await startedWorker(scriptedPipeline({ renderMs: 60_000 }).pipeline);
    const job = requestedJob({ deadlineInMs: 4_000 });
    await requestJobs(around.appender, [job]);
    const ended = await untilEnded(around.kafka, [job], limitMs);
    expect(ended.get(`${job.job_id}/0`)?.value).toMatchObject({ code: 'deadline' });
  });
});

describe('planning that fails after the source was analysed', () => {
  test('is tried again without fetching and analysing it again', async () => {
    const { pipeline, calls } = scriptedPipeline({ renderMs: 10 });
    let failuresLeft = 1;
    await startedWorker({
      ...pipeline,
      planClips: (input, context) => {
        failuresLeft -= 1;
        if (failuresLeft >= 0) throw new MediaFailure('TOOL_BROKEN', 'The clips could not be planned.');
        return pipeline.planClips(input, context);
      },
    });
    const job = requestedJob();
    await requestJobs(around.appender, [job]);
    const ended = await untilEnded(around.kafka, [job], limitMs);
    expect(ended.get(`${job.job_id}/0`)?.name).toBe('ClipCompleted');
    expect(calls).toMatchObject({ fetched: 1, analysed: 1, planned: 1, rendered: 1 });
  });
});

describe('a task that keeps failing', () => {
  test('is tried four times, then its clip fails and the task lies on job.dead', async () => {
    const fail = () => {
      throw new MediaFailure('TOOL_BROKEN', 'The clip could not be rendered.', { detail: 'exit code 139' });
    };
    const { pipeline, calls } = scriptedPipeline({ renderMs: 10, onRender: fail });
    await startedWorker(pipeline);
    const job = requestedJob();
    await requestJobs(around.appender, [job]);
    const ended = await untilEnded(around.kafka, [job], limitMs);
    expect(ended.get(`${job.job_id}/0`)?.value).toMatchObject({
      code: 'tool_broken',
      error: 'The clip could not be rendered.',
    });
    expect(calls.rendered).toBe(4);
    const dead = await until('the task is dead', limitMs, async () =>
      (await recordsIn(around.kafka, 'job.dead')).find(
        ({ name, value }) => name === 'DeadTask' && value.job_id === job.job_id,
      ),
    );
    expect(dead.value).toMatchObject({ task_id: `${job.job_id}/0`, attempts: 4, reason: 'exit code 139' });
  });

  test('is listed for operators, who can drive it again: its source and plan were kept', async () => {
    let isBroken = true;
    const { pipeline } = scriptedPipeline({
      renderMs: 10,
      onRender: () => {
        if (isBroken) throw new MediaFailure('TOOL_BROKEN', 'The clip could not be rendered.');
      },
    });
    await startedWorker(pipeline);
    const job = requestedJob();
    await requestJobs(around.appender, [job]);
    await untilEnded(around.kafka, [job], limitMs);
    isBroken = false;
    const task = `${job.job_id}/0`;
    const { tasks } = (await runJson(tenant, 'admin', ['dead', 'list'])) as { tasks: unknown[] };
    expect(tasks).toContainEqual(
      expect.objectContaining({ task_id: task, code: 'tool_broken', attempts: 4 }),
    );
    const driven = await runJson(tenant, 'admin', ['dead', 'redrive', '--task', task]);
    expect(driven).toMatchObject({ task_id: task, attempt: 2 });
    const { object_key: objectKey } = driven as { object_key: string };
    await until('the clip is there after all', limitMs, () => around.storage.head(objectKey));
    expect((await terminalEvents(around.kafka)).get(task)?.[0]?.name).toBe('ClipFailed');
  });

  test('an unreadable record is put aside and does not stop the tasks behind it', async () => {
    const { pipeline } = scriptedPipeline({ renderMs: 10 });
    const job = requestedJob();
    const partition = 0;
    await around.appender.append([
      { topic: 'job.tasks', key: 'broken/0', value: Buffer.from('not avro'), partition },
    ]);
    await startedWorker(pipeline);
    await requestJobs(around.appender, [job]);
    await untilEnded(around.kafka, [job], limitMs);
    const dead = await until('it is dead', limitMs, async () =>
      (await recordsIn(around.kafka, 'job.dead')).find(
        ({ name, value }) => name === 'DeadTask' && value.task_id === 'broken/0',
      ),
    );
    expect(dead.value).toMatchObject({ code: 'unreadable', task: Buffer.from('not avro') });
  });
});

describe('a redelivery', () => {
  test('of request and task gives the same events again and does no work again', async () => {
    const { pipeline, calls } = scriptedPipeline({ renderMs: 10 });
    await startedWorker(pipeline);
    const job = requestedJob({ clips: 2 });
    await requestJobs(around.appender, [job]);
    await untilEnded(around.kafka, [job], limitMs);
    await untilCleaned(job.job_id);
    const before = { ...calls };
    await requestJobs(around.appender, [job]);
    const again = await until('the events are there again', limitMs, async () => {
      const events = (await terminalEvents(around.kafka)).get(`${job.job_id}/1`) ?? [];
      return events.length >= 2 ? events : undefined;
    });
    expect(again[1]?.value).toEqual(again[0]?.value);
    expect(calls).toEqual(before);
  });
});

describe('under load', () => {
  test('two workers share the tasks, and partitions that are full are paused and resumed', async () => {
    const one = scriptedPipeline({ renderMs: 20 });
    const two = scriptedPipeline({ renderMs: 20 });
    const tuning = { concurrency: 4, maxUnfinishedPerPartition: 5 };
    await startedWorker(one.pipeline, tuning);
    await startedWorker(two.pipeline, tuning);
    const jobs = Array.from({ length: 40 }, (_, index) => requestedJob({ clips: 5, teamId: index % 7 }));
    await requestJobs(around.appender, jobs);
    const ended = await untilEnded(around.kafka, jobs, 90_000);
    expect(new Set([...ended.values()].map(({ name }) => name))).toEqual(new Set(['ClipCompleted']));
    expect(one.calls.rendered).toBeGreaterThan(0);
    expect(two.calls.rendered).toBeGreaterThan(0);
    expect(one.calls.rendered + two.calls.rendered).toBeLessThan(2 * 200);
  });
});
