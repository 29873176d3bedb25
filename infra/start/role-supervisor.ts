import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedProcess, ProcessGuard } from '../embedded/guarded-processes.ts';
import { serverLogFile, tailOfLog, withServerLog } from '../embedded/server-log.ts';
import { restartPause, restartPauseMs } from './restart-pause.ts';
import { type Role, roleProgram, roleUrl } from './role.ts';
import { recordRole } from './role-records.ts';
import type { Narrator } from './terminal.ts';

/** A role that is kept running. */
export type SupervisedRole = {
  /** Resolves when it answers that it is ready; rejects when it does not come up. */
  readonly ready: Promise<void>;
  /** Stops it in order and for good. */
  stop(): Promise<void>;
  kill(): void;
};

type Supervision = {
  readonly dataDir: string;
  readonly guard: ProcessGuard;
  readonly narrator: Narrator;
};

const readyLimitMs = 120_000;
const pollMs = 50;
const probeLimitMs = 1_000;
/** In order means: finish the work at hand. Longer than any role's own limits. */
const stopLimitMs = 25_000;
/** A role that never became ready is tried this often before the whole start is given up. */
const firstStartTries = 3;
/** A role that ran for this long has recovered: its next crash counts as the first. */
const steadyMs = 60_000;

/** Runs a role and starts it again when it crashes, each time after a longer pause. */
export function superviseRole(role: Role, supervision: Supervision): SupervisedRole {
  const { narrator, dataDir } = supervision;
  const stopping = new AbortController();
  const firstReady = Promise.withResolvers<void>();
  const logFile = serverLogFile(dataDir, role.name);
  let current: GuardedProcess | undefined;
  let wasReady = false;

  const keepRunning = async () => {
    for (let failures = 0; !stopping.signal.aborted; ) {
      const startedAt = performance.now();
      current = await launchRole(role, supervision, logFile);
      if (stopping.signal.aborted) await current.stop();
      else if (await becomesReady(role, current, stopping.signal)) {
        wasReady = true;
        narrator.say(role.name, 'ready');
        firstReady.resolve();
      }
      const { code, signal } = await current.exited;
      if (stopping.signal.aborted) return;
      failures = performance.now() - startedAt > steadyMs ? 1 : failures + 1;
      const how = signal ?? `code ${code}`;
      if (!wasReady && failures === firstStartTries) {
        throw new Error(
          `${role.name} does not start (${how}). The end of ${logFile}:\n${await tailOfLog(logFile)}`,
        );
      }
      narrator.warn(
        role.name,
        `ended unexpectedly (${how}); again in ${restartPauseMs(failures) / 1_000} s. Its log: ${logFile}`,
      );
      await restartPause(failures, stopping.signal);
    }
  };

  narrator.say(role.name, 'starting');
  const kept = keepRunning().catch((error: Error) => firstReady.reject(error));
  const limit = setTimeout(() => {
    firstReady.reject(
      new Error(`${role.name} was not ready within ${readyLimitMs / 1_000} s; see ${logFile}.`),
    );
  }, readyLimitMs);
  const ready = firstReady.promise.finally(() => clearTimeout(limit));
  // Whoever stops before it is ready does not wait for it, and that is no error.
  ready.catch(() => undefined);
  return {
    ready,
    async stop() {
      stopping.abort();
      clearTimeout(limit);
      await current?.stop();
      await kept;
    },
    kill: () => current?.kill(),
  };
}

async function launchRole(
  role: Role,
  { dataDir, guard }: Supervision,
  logFile: string,
): Promise<GuardedProcess> {
  const launched = await withServerLog(logFile, (descriptor) =>
    guard.start({
      name: role.name,
      command: process.execPath,
      args: [roleProgram(role.name)],
      options: { stdio: ['ignore', descriptor, descriptor], env: { ...role.environment } },
      stopSignal: 'SIGTERM',
      stopLimitMs,
    }),
  );
  const forget = await recordRole(dataDir, { name: role.name, pid: launched.pid, starterPid: process.pid });
  void launched.exited.then(forget);
  return launched;
}

/** Whether it answers 200 on `/health/ready`; false when it ends, or is to be stopped, before that. */
async function becomesReady(role: Role, running: GuardedProcess, stopping: AbortSignal): Promise<boolean> {
  while (!running.hasExited() && !stopping.aborted) {
    if (await answersReady(`${roleUrl(role)}/health/ready`)) return true;
    await sleep(pollMs);
  }
  return false;
}

async function answersReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(probeLimitMs) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
