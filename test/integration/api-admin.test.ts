import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runAdmin } from '#api/admin/run-admin.ts';
import { isWellFormedApiKey } from '#api/api-key.ts';
import { ApiFixture, type ApiInstance } from './api-fixture.ts';

const program = fileURLToPath(new URL('../../api/admin/main.ts', import.meta.url));

let fixture: ApiFixture;
let api: ApiInstance;

beforeAll(async () => {
  fixture = await ApiFixture.open();
  api = await fixture.startApi();
});
afterAll(() => fixture?.close());

type Run = { exitCode: number; stdout: string; stderr: string };

/** Runs the operator's CLI as `npm run admin -- words` does. */
function admin(...words: string[]): Promise<Run> {
  const { PATH = '' } = process.env;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--disable-warning=TimeoutNegativeWarning', program, ...words],
      { env: { ...fixture.environment, PATH }, timeout: 60_000 },
      (error, stdout, stderr) =>
        resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** Runs a command in this process, which is enough for what it says and how it ends. */
async function adminHere(...words: string[]): Promise<Run> {
  for (const [name, value] of Object.entries(fixture.environment)) vi.stubEnv(name, value);
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      written[stream] += String(text);
      return true;
    });
  try {
    return { exitCode: await runAdmin(words), ...written };
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
}

/** What a command answers where stdout is no terminal. */
async function adminJson(...words: string[]): Promise<Record<string, unknown>> {
  const run = await adminHere(...words);
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  return JSON.parse(run.stdout);
}

test('a team gets from nothing to a request that is answered', async () => {
  expect(await admin('team', 'create', '--name', 'Acme', '--json')).toEqual({
    exitCode: 0,
    stdout: '{"team_id":1}\n',
    stderr: '',
  });
  expect(await adminJson('team', 'create', '--name', 'Other')).toEqual({ team_id: 2 });
  const created = await adminJson('key', 'create', '--team', '1', '--name', 'CI');
  expect(Object.keys(created)).toEqual(['key_id', 'key']);
  const key = String(created['key']);
  expect(isWellFormedApiKey(key)).toBe(true);
  const ask = async () => (await api.request('GET', '/v1/test', { key })).status;
  expect(await ask()).toBe(403);
  expect(await adminJson('billing', 'activate', '--team', '1')).toEqual({ team_id: 1, active: true });
  expect(await ask()).toBe(402);
  const topUp = ['wallet', 'top-up', '--team', '1', '--cents', '2000', '--reference', 'pay-1'];
  expect(await adminJson(...topUp)).toMatchObject({ balance_cents: 2_000, counted_before: false });
  expect(await ask()).toBe(200);
  expect(await adminJson(...topUp)).toMatchObject({ balance_cents: 2_000, counted_before: true });
  expect(await adminJson('team', 'list')).toMatchObject({
    teams: [
      { team_id: 1, name: 'Acme', active: true, balance_cents: 2_000 },
      { team_id: 2, name: 'Other', active: false, balance_cents: 0 },
    ],
  });
  expect(await adminJson('key', 'list', '--team', '1')).toMatchObject({
    keys: [{ key_id: created['key_id'], name: 'CI', status: 'active', prefix: key.slice(0, 8) }],
  });

  const clip = await api.request('POST', '/v1/clip', {
    key,
    body: { video_url: 'https://example.com/a.mp4' },
  });
  const job = await adminJson('job', 'show', String(clip.body['job_id']));
  expect(job).toMatchObject({
    job: { team_id: 1, status: 'processing', cost_cents: 150 },
    clips: [{ item: 0, status: 'processing' }],
    transactions: [{ type: 'WalletDebited', amount_cents: -150 }],
    objects: [],
  });

  const jobId = String(clip.body['job_id']);
  const cancelled = { job_id: jobId, status: 'completed', cancelled_items: 1, refunded_cents: 150 };
  expect(await adminJson('job', 'cancel', jobId)).toEqual(cancelled);
  expect(await adminJson('job', 'cancel', jobId)).toEqual(cancelled);

  await adminJson('key', 'revoke', '--key-id', String(created['key_id']));
  await adminJson('key', 'revoke', '--key-id', String(created['key_id']));
  expect(await ask()).toBe(401);
  expect(await adminJson('billing', 'deactivate', '--team', '1')).toEqual({ team_id: 1, active: false });
});

test('a face swap is shown with its length and its money', async () => {
  const team = String((await adminJson('team', 'create', '--name', 'Swaps'))['team_id']);
  await adminJson('billing', 'activate', '--team', team);
  await adminJson('wallet', 'top-up', '--team', team, '--cents', '1000', '--reference', 'pay-2');
  const jobId = randomUUID();
  const url = 'https://example.com/source';
  await fixture.submit({
    name: 'RequestJob',
    value: {
      ...fixture.envelope(Number(team)),
      job_id: jobId,
      kind: 'face_swap',
      item_count: 1,
      item_cents: 200,
      request_hash: 'a'.repeat(64),
      job_deadline_at: Date.now() + 3_600_000,
      clip: null,
      face_swap: {
        video_url: url,
        video_object_key: null,
        face_image_url: url,
        face_image_object_key: null,
        mode: 'face',
        duration_seconds: 10,
      },
      callback_url: null,
    },
  });
  expect(await adminJson('job', 'show', jobId)).toMatchObject({
    job: { kind: 'face_swap', status: 'processing', cost_cents: 200 },
    clips: [],
    swaps: [{ mode: 'face', duration_seconds: 10, status: 'processing', settlement: null }],
    transactions: [{ type: 'WalletDebited', amount_cents: -200 }],
  });
});

test('a rebuild makes the same rows again, and team ids go on behind those that exist', async () => {
  const { team_id: before } = await adminJson('team', 'create', '--name', 'Kept');
  const teams = await adminJson('team', 'list');
  const run = await adminHere('rebuild');
  expect(run.exitCode).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({ rebuilt: true });
  expect(await adminJson('team', 'list')).toEqual(teams);
  await fixture.pool.query(`SELECT setval('service.team_ids', 1, false)`);
  expect(await adminJson('team', 'create', '--name', 'New')).toEqual({ team_id: Number(before) + 1 });
});

test.each([
  [['wallet', 'top-up', '--team', '1', '--cents', '499', '--reference', 'r'], 1, 'at least 500'],
  [['wallet', 'top-up', '--team', '999', '--cents', '500', '--reference', 'r'], 1, 'no team 999'],
  [['billing', 'activate', '--team', '999'], 1, 'no team 999'],
  [['key', 'create', '--team', '999', '--name', 'x'], 1, 'no team 999'],
  [['key', 'create', '--team', '1', '--name', 'x', '--expires-at', '2020-01-01T00:00:00Z'], 1, 'has passed'],
  [['key', 'revoke', '--key-id', '00000000-0000-4000-8000-000000000000'], 1, 'no key'],
  [['job', 'show', '00000000-0000-4000-8000-000000000000'], 1, 'no job'],
  [['key', 'create', '--team', '1', '--name', 'x', '--expires-at', 'tomorrow'], 2, '--expires-at'],
  [['team', 'create'], 2, '--name is missing'],
  [['job', 'cancel', '00000000-0000-4000-8000-000000000000'], 1, 'no job'],
  [['team', 'create', '--name', 'x', '--colour', 'red'], 2, 'no option --colour'],
  [['wallet', 'top-up', '--team', '1', '--cents=-500', '--reference', 'r'], 2, '--cents must be a whole'],
  [['wallet', 'top-up', '--team', '1', '--cents', '-500', '--reference', 'r'], 2, 'not -500'],
  [['wallet', 'top-up', '--team', '1', '--cents', '500', '--reference', ' '], 2, '--reference is blank'],
  [['wallet', 'top-up', '--team', '--cents', '500'], 2, 'See `npm run admin -- wallet top-up --help`.'],
  [['wallet', 'top-up', '--team', '1', '--cents', '5.50', '--reference', 'r'], 2, '--cents'],
  [
    ['wallet', 'top-up', '--team', '1', '--team', '2', '--cents', '500', '--reference', 'r'],
    2,
    '--team is given twice',
  ],
  [['job', 'show'], 2, 'JOB_ID'],
  [['team', 'destroy'], 2, 'no command'],
])('%j is refused with exit code %i', async (words, exitCode, reason) => {
  const run = await adminHere(...words);
  expect(run).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(reason) });
});

test('every command has a help, which needs no service', async () => {
  const all = await adminHere('--help');
  expect(all.exitCode).toBe(0);
  const names = [
    ...all.stdout.matchAll(/^ {2}((?:team|billing|wallet|key|job|webhook) [a-z-]+|rebuild) /gm),
  ].map(([, name]) => name);
  expect(names).toHaveLength(12);
  for (const name of names) {
    const help = await adminHere(...String(name).split(' '), '--help');
    expect(help).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining(`-- ${name}`) });
  }
});
