import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** How a program is run and how it is stopped. */
export type GuardedProgram = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
  /** The signal by which it stops in order. */
  readonly stopSignal: NodeJS.Signals;
  /** How long that may take before it is killed. */
  readonly stopLimitMs: number;
};

export type ProgramExit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A running program that does not outlive us. */
export type GuardedProcess = {
  readonly name: string;
  readonly pid: number;
  readonly exited: Promise<ProgramExit>;
  hasExited(): boolean;
  /** Stops in order, kills after the limit; resolves once it is gone. */
  stop(): Promise<void>;
  /** Ends it at once, for a person who will not wait. */
  kill(): void;
};

/** Starts programs that are stopped also when this process is killed. */
export type ProcessGuard = {
  start(program: GuardedProgram): Promise<GuardedProcess>;
  /** Call when all programs have been stopped. */
  close(): Promise<void>;
};

/** Makes the guard: one small process beside ours that waits for our end. */
export function createProcessGuard(): ProcessGuard {
  const guardian = spawn(process.execPath, [fileURLToPath(new URL('guardian.ts', import.meta.url))], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guardian.unref();
  // A guardian that was killed takes no more orders; the orphan search of the next start stands in for it.
  guardian.stdin.on('error', () => {});
  const tell = (line: string) => {
    if (guardian.exitCode === null && guardian.signalCode === null) guardian.stdin.write(`${line}\n`);
  };
  return {
    async start(program) {
      const child = spawn(program.command, program.args, { ...program.options, detached: true });
      await spawned(child, program);
      const pid = child.pid ?? 0;
      tell(`add ${pid} ${program.stopSignal} ${program.stopLimitMs}`);
      const exited = new Promise<ProgramExit>((resolve) => {
        child.once('exit', (code, signal) => {
          tell(`remove ${pid}`);
          resolve({ code, signal });
        });
      });
      return {
        name: program.name,
        pid,
        exited,
        hasExited: () => hasExited(child),
        stop: () => stop(child, program, exited),
        kill: () => void child.kill('SIGKILL'),
      };
    },
    async close() {
      if (hasExited(guardian)) return;
      guardian.ref(); // Else nothing might be left that keeps us running until it has gone.
      const gone = once(guardian, 'exit');
      guardian.stdin.end();
      await gone;
    },
  };
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function spawned(child: ChildProcess, program: GuardedProgram): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause: NodeJS.ErrnoException) => {
      const reason =
        cause.code === 'ENOENT' ? 'is not installed (or not on PATH)' : `cannot be run: ${cause.message}`;
      reject(new Error(`${program.name} cannot start: ${program.command} ${reason}.`, { cause }));
    });
  });
}

async function stop(
  child: ChildProcess,
  program: GuardedProgram,
  exited: Promise<ProgramExit>,
): Promise<void> {
  if (hasExited(child)) return;
  child.kill(program.stopSignal);
  const limit = setTimeout(() => child.kill('SIGKILL'), program.stopLimitMs);
  await exited;
  clearTimeout(limit);
}
