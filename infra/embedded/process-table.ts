import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** A process of this machine, as the process table shows it. */
export type RunningProcess = {
  readonly pid: number;
  readonly commandLine: string;
  /** Where it works; unknown where the system does not tell. */
  readonly workingFolder?: string | undefined;
};

/** All processes that this user may see. Linux is read from /proc, since small systems have no `ps`. */
export async function listProcesses(): Promise<RunningProcess[]> {
  if (process.platform === 'linux') return listFromProc();
  const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'pid=,command='], {
    maxBuffer: 16 << 20,
  });
  return parseProcessList(stdout);
}

/** The lines of `ps -o pid=,command=`. */
export function parseProcessList(text: string): RunningProcess[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(.*)$/.exec(line);
    return match?.[1] === undefined ? [] : [{ pid: Number(match[1]), commandLine: match[2] ?? '' }];
  });
}

async function listFromProc(): Promise<RunningProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid): Promise<RunningProcess | undefined> => {
      const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
      // Gone meanwhile, a kernel thread, or a zombie, which holds nothing any more.
      if (commandLine === undefined || commandLine === '') return undefined;
      const workingFolder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
      return { pid, commandLine: commandLine.replaceAll('\0', ' ').trim(), workingFolder };
    }),
  );
  return found.filter((entry) => entry !== undefined);
}

/** Whether `pid` runs; a zombie counts as gone where the system tells. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  if (process.platform !== 'linux') return true;
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return status !== '' && !/\) Z /.test(status);
}

/** Waits until `pid` is gone; false when it still runs after `limitMs`. */
export async function waitForExit(pid: number, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs;
  while (await isAlive(pid)) {
    if (performance.now() > end) return false;
    await sleep(25);
  }
  return true;
}

/** Sends `signal`; a process that has gone meanwhile is as good. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Asks `pid` to stop with `signal` and kills it when it has not stopped after `limitMs`. */
export async function stopProcess(pid: number, signal: NodeJS.Signals, limitMs: number): Promise<void> {
  sendSignal(pid, signal);
  if (await waitForExit(pid, limitMs)) return;
  sendSignal(pid, 'SIGKILL');
  await waitForExit(pid, 5_000);
}
