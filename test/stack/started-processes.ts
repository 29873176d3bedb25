import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * The processes that tests started, one file each (named by the process id, with its command), so that
 * they can be ended when the test process that started them is gone.
 */

const folderOf = (runFolder: string): string => join(runFolder, 'processes');

/** Notes a process that leads a group of its own. */
export async function noteProcess(runFolder: string, pid: number, command: string): Promise<void> {
  await mkdir(folderOf(runFolder), { recursive: true });
  await writeFile(join(folderOf(runFolder), String(pid)), command);
}

/** Forgets a process that has ended with its group. */
export async function forgetProcess(runFolder: string, pid: number): Promise<void> {
  await rm(join(folderOf(runFolder), String(pid)), { force: true });
}

/** Kills the noted processes that still live, each with its group. */
export async function killNotedProcesses(runFolder: string): Promise<void> {
  const names = await readdir(folderOf(runFolder)).catch(() => []);
  for (const name of names) {
    const pid = Number(name);
    const command = await readFile(join(folderOf(runFolder), name), 'utf8');
    // A number may have gone to somebody else's process in the meantime.
    if (await runsCommand(pid, command)) killGroup(pid);
    await forgetProcess(runFolder, pid);
  }
}

/** kill -9 of a process's whole group; one that is gone is fine. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function runsCommand(pid: number, command: string): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]);
    return stdout.includes(command);
  } catch {
    return false;
  }
}
