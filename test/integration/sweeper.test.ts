import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Engine, findEngine } from '#infra/containers/engine.ts';
import { imageNames } from '#infra/containers/image-names.ts';
import { runLabel } from '#test/stack/platform.ts';
import { until } from '#test/stack/poll.ts';
import { startSweeper } from '#test/stack/start-sweeper.ts';
import { killGroup, noteProcess } from '#test/stack/started-processes.ts';
import { usePlatform } from '#test/stack/use-platform.ts';

/** What stays when a test run is killed: nothing. Here the run is a process that only holds the sweeper. */

const sweepLimitMs = 60_000;
const platform = await usePlatform();
let runId: string;
let runFolder: string;
let run: ChildProcess;
let started: number[];

beforeEach(async () => {
  runId = `sweep${randomBytes(4).toString('hex')}`;
  runFolder = await mkdtemp(join(tmpdir(), 'clipledger-test-'));
  started = [];
  const module = import.meta.resolve('#test/stack/start-sweeper.ts');
  const program = `
    const { startSweeper } = await import(${JSON.stringify(module)});
    startSweeper(${JSON.stringify(runId)}, ${JSON.stringify(runFolder)});
    process.stdout.write('sweeping');
    setInterval(() => {}, 1000);
  `;
  run = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => run.stdout?.once('data', resolve));
});

afterEach(async () => {
  run.kill('SIGKILL');
  for (const pid of started) killGroup(pid);
  await rm(runFolder, { recursive: true, force: true });
});

it('ends the processes of a killed run and removes its folder', async () => {
  const pid = await startIdleProcess();

  run.kill('SIGKILL');

  await until('the process is ended', sweepLimitMs, () => !isAlive(pid) || undefined);
  await until('the folder is removed', sweepLimitMs, () => !existsSync(runFolder) || undefined);
});

it('does the same after Ctrl-C', async () => {
  const pid = await startIdleProcess();

  run.kill('SIGINT');

  await until('the process is ended', sweepLimitMs, () => !isAlive(pid) || undefined);
  await until('the folder is removed', sweepLimitMs, () => !existsSync(runFolder) || undefined);
});

it('leaves a process alone that has only inherited a noted number', async () => {
  const pid = await startIdleProcess();
  await noteProcess(runFolder, pid, 'another/program.ts');

  run.kill('SIGKILL');

  await until('the folder is removed', sweepLimitMs, () => !existsSync(runFolder) || undefined);
  expect(isAlive(pid)).toBe(true);
});

it.runIf(platform.backEnd === 'containers')(
  'removes the containers and networks of a killed run, and no others',
  async () => {
    const engine = await findEngine();
    if (engine === undefined) throw new Error('The Docker daemon does not answer.');
    const labels = { [runLabel]: runId };
    const network = await engine.createNetwork({ Name: `clipledger-${runId}`, Labels: labels });
    const container = await engine.createContainer({
      Image: imageNames.postgres,
      Env: ['POSTGRES_PASSWORD=sweeper'],
      Labels: labels,
      HostConfig: { NetworkMode: network.id },
    });
    await container.start();

    run.kill('SIGKILL');

    await until('they are removed', sweepLimitMs, async () => {
      const { containers, networks } = await ofRun(engine, runId);
      return containers + networks === 0 || undefined;
    });
    // This run's own platform goes on.
    expect((await ofRun(engine, platform.runId)).containers).toBeGreaterThanOrEqual(3);
  },
);

it('is not needed after an orderly end: it goes when it is told to', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'clipledger-test-'));
  await startSweeper(`${runId}-orderly`, folder).finish();
  expect(existsSync(folder)).toBe(false);
});

async function startIdleProcess(): Promise<number> {
  const idle = 'setInterval(() => {}, 1000) // idle-for-the-sweeper';
  const child = spawn(process.execPath, ['--eval', idle], { detached: true, stdio: 'ignore' });
  const { pid } = child;
  if (pid === undefined) throw new Error('The process did not start.');
  started.push(pid);
  await noteProcess(runFolder, pid, 'idle-for-the-sweeper');
  return pid;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function ofRun(engine: Engine, id: string): Promise<{ containers: number; networks: number }> {
  const filters = { label: [`${runLabel}=${id}`] };
  const containers = await engine.listContainers({ all: true, filters });
  const networks = await engine.listNetworks({ filters });
  return { containers: containers.length, networks: networks.length };
}
