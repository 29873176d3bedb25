import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SeededRandom, seededRandom } from '#test/seeded-random.ts';
import { createTenant } from '#test/stack/tenant.ts';
import { recordsIn, requestedJob, requestJobs, terminalEvents, untilEnded } from './job-log.ts';
import { openSurroundings, type WorkerSurroundings } from './running-worker.ts';
import { startWorkerProcess, stopProcess } from './worker-processes.ts';

const seed = Number(process.env['TEST_SEED'] ?? 20_261_121);
const kills = 4;

let environment: Readonly<Record<string, string | undefined>>;
let around: WorkerSurroundings;
const workers: ChildProcess[] = [];

beforeAll(async () => {
  const tenant = await createTenant();
  // What killed workers leave behind goes with the run.
  environment = { ...process.env, ...tenant.env, TMPDIR: tenant.platform.runFolder };
  around = await openSurroundings(environment);
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => stopProcess(worker, 'SIGTERM')));
  await around?.close();
});

/** Kills one of the workers in the middle of its work, and starts another in its place. */
async function killOne(random: SeededRandom): Promise<void> {
  await delay(500 + random() * 3_000);
  const index = Math.floor(random() * workers.length);
  const victim = workers[index];
  if (victim === undefined) return;
  await stopProcess(victim, 'SIGKILL');
  workers[index] = startWorkerProcess(environment);
}

test(`workers that are killed in the middle of jobs lose no task (seed ${seed})`, async () => {
  const random = seededRandom(seed);
  workers.push(startWorkerProcess(environment), startWorkerProcess(environment));
  const jobs = Array.from({ length: 20 }, (_, index) => requestedJob({ clips: 3, teamId: index % 3 }));
  await requestJobs(around.appender, jobs);
  for (let kill = 0; kill < kills; kill += 1) await killOne(random);
  const ended = await untilEnded(around.kafka, jobs, 120_000);
  expect(new Set([...ended.values()].map(({ name }) => name))).toEqual(new Set(['ClipCompleted']));
  for (const events of (await terminalEvents(around.kafka)).values()) {
    expect(new Set(events.map(({ value }) => value.event_id)).size).toBe(1);
  }
  expect(await recordsIn(around.kafka, 'job.dead')).toEqual([]);
  for (const { value } of ended.values()) {
    const key = value !== undefined && 'object_key' in value ? value.object_key : '';
    expect(await around.storage.head(key)).toBeDefined();
  }
});
