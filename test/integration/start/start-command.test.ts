import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { findFreePort } from '#infra/embedded/ports.ts';
import { isAlive } from '#infra/embedded/process-table.ts';
import { childEnvironment } from '#test/stack/child-environment.ts';
import { until } from '#test/stack/poll.ts';
import { createTenant, type Tenant } from '#test/stack/tenant.ts';

/** `npm start` against servers that are there already, as an operator with a cluster of his own runs it. */

const program = fileURLToPath(new URL('../../../infra/start/main.ts', import.meta.url));
const readyLimitMs = 100_000;

let tenant: Tenant;
let dataDir: string;
let port: number;
let started: StartCommand | undefined;

type StartCommand = {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly exitCode: Promise<number | null>;
};

beforeAll(async () => {
  tenant = await createTenant();
});

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'clipledger-start-'));
  port = await findFreePort();
});

afterEach(async () => {
  started?.child.kill('SIGINT');
  await started?.exitCode;
  started = undefined;
  await rm(dataDir, { recursive: true, force: true });
});

function start(...args: string[]): StartCommand {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...childEnvironment,
      ...tenant.env,
      DATA_DIR: dataDir,
      PORT: String(port),
    },
  });
  const said = { out: '', error: '' };
  child.stdout.on('data', (chunk) => {
    said.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said.error += chunk;
  });
  const exitCode = once(child, 'close').then(() => child.exitCode);
  started = { child, stdout: () => said.out, stderr: () => said.error, exitCode };
  return started;
}

const readyLine = (command: StartCommand) =>
  until('the ready line', readyLimitMs, () => {
    if (command.child.exitCode !== null) throw new Error(command.stderr());
    return command.stdout().endsWith('\n') ? command.stdout() : undefined;
  });

/** The roles' pids, as the start notes them for the next start. */
async function rolePids(): Promise<Record<string, number>> {
  const files = await readdir(join(dataDir, 'roles'));
  const pairs = files.map((file) => /^(.*)-(\d+)\.json$/.exec(file)?.slice(1) ?? []);
  return Object.fromEntries(pairs.map(([name, pid]) => [name, Number(pid)]));
}

const answers = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;

test('says once on stdout that all is ready, brings a killed role back, and stops all at Ctrl-C', async () => {
  const command = start();
  expect(await readyLine(command)).toBe(`ready http://127.0.0.1:${port}\n`);
  expect(await answers('/health/ready')).toBe(200);
  const before = await rolePids();
  expect(Object.keys(before).sort()).toEqual(['api', 'projector', 'workers']);

  process.kill(before['api'] ?? 0, 'SIGKILL');
  await until('the api answers again', readyLimitMs, async () =>
    (await rolePids())['api'] !== before['api'] && (await answers('/health/ready')) === 200
      ? true
      : undefined,
  );
  expect(command.stderr()).toContain('ended unexpectedly (SIGKILL)');

  const after = Object.values(await rolePids());
  command.child.kill('SIGINT');
  expect(await command.exitCode).toBe(0);
  expect(command.stdout()).toBe(`ready http://127.0.0.1:${port}\n`);
  for (const pid of after) expect(await isAlive(pid)).toBe(false);
});

test('leaves nothing running when it is killed itself', async () => {
  const command = start('workers');
  expect(await readyLine(command)).toMatch(/^ready http:\/\/127\.0\.0\.1:\d+\n$/);
  const { workers = 0 } = await rolePids();
  expect(await isAlive(workers)).toBe(true);
  command.child.kill('SIGKILL');
  await until('the workers have ended', 40_000, async () => ((await isAlive(workers)) ? undefined : true));
});

test('names who has the port, before it starts anything', async () => {
  const owner = createServer().listen(port, '127.0.0.1');
  await once(owner, 'listening');
  const command = start('api');
  expect(await command.exitCode).toBe(1);
  expect(command.stderr()).toContain(`port ${port} is taken by process ${process.pid}`);
  expect(command.stderr()).toContain(`PORT=${port + 1} npm start`);
  expect(command.stdout()).toBe('');
  owner.close();
});

test('explains itself, and refuses a part that does not exist', async () => {
  const help = start('--help');
  expect(await help.exitCode).toBe(0);
  expect(help.stdout()).toContain('npm start [-- api | projector | workers | stack]');
  const unknown = start('scheduler');
  expect(await unknown.exitCode).toBe(1);
  expect(unknown.stderr()).toContain('there is no part "scheduler"');
});
