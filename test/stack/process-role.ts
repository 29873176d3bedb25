import { spawn } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '#infra/embedded/ports.ts';
import { childEnvironment } from './child-environment.ts';
import { GivenUp, until } from './poll.ts';
import { logTail, type RoleInstance, type RoleRequest, readyLimitMs, stopLimitMs } from './role.ts';
import { forgetProcess, killGroup, noteProcess } from './started-processes.ts';
import type { Tenant } from './tenant.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
let startedCount = 0;

/** Starts one process of the service on this machine, on free ports, and waits until it is ready. */
export async function startProcessRole(tenant: Tenant, request: RoleRequest): Promise<RoleInstance> {
  const { runFolder } = tenant.platform;
  const program = `${request.role}/main.ts`;
  const [port, metricsPort] = [await findFreePort(), await findFreePort()];
  const logFile = await newLogFile(runFolder, `${tenant.name}-${request.role}-${request.index}`);
  const log = await open(logFile, 'a');
  // A group of its own: what it leaves behind when it is killed can be ended with it.
  const child = spawn(process.execPath, [program], {
    cwd: repository,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: {
      ...childEnvironment,
      HOST: '127.0.0.1',
      ...tenant.env,
      ...request.env,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
    },
  });
  await log.close();
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
  let ending: string | undefined;
  void exited.then((how) => {
    ending = how;
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${program} cannot be started: ${await exited}`);
  await noteProcess(runFolder, pid, program);
  const baseUrl = `http://127.0.0.1:${request.role === 'api' ? port : metricsPort}`;
  const readLog = () => readFile(logFile, 'utf8');

  const finish = async () => {
    killGroup(pid);
    await exited;
    await forgetProcess(runFolder, pid);
  };
  try {
    await untilReady(program, baseUrl, () => ending);
  } catch (error) {
    await finish();
    throw new Error(`${program} did not become ready. Its log ends:\n${logTail(await readLog())}`, {
      cause: error,
    });
  }
  return {
    baseUrl,
    log: readLog,
    kill: async () => {
      process.kill(pid, 'SIGKILL');
      await exited;
    },
    stop: async () => {
      const killedBefore = ending !== undefined;
      if (!killedBefore) child.kill('SIGTERM');
      const how = await Promise.race([exited, lateAfter(stopLimitMs)]);
      await finish();
      if (killedBefore || how === 'exit code 0') return;
      throw new Error(
        `${program} did not stop in order (${how ?? `still there after ${stopLimitMs / 1000} s`}). ` +
          `Its log ends:\n${logTail(await readLog())}`,
      );
    },
  };
}

async function newLogFile(runFolder: string, name: string): Promise<string> {
  await mkdir(join(runFolder, 'logs'), { recursive: true });
  startedCount += 1;
  return join(runFolder, 'logs', `${name}-${startedCount}.log`);
}

async function untilReady(program: string, baseUrl: string, ending: () => string | undefined): Promise<void> {
  await until(`${program} is ready`, readyLimitMs, async () => {
    const how = ending();
    if (how !== undefined) throw new GivenUp(`It ended: ${how}.`);
    const response = await fetch(`${baseUrl}/health/ready`, { signal: AbortSignal.timeout(2_000) });
    const body = await response.text();
    if (response.status === 200) return true;
    throw new Error(body);
  });
}

function lateAfter(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), milliseconds).unref();
  });
}
