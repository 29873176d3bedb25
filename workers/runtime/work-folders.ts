import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

const namePrefix = `clipledger-work-${hostname().replaceAll(/[^A-Za-z0-9.]/g, '_')}-`;

/**
 * The task folders of this process, under `clipledger-work-<host>-<pid>`. There are as many at a time as
 * tasks run; what a killed process left behind is swept when the next one on this host starts.
 */
export class WorkFolders {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Makes this process's folder under `root` (the system's folder for temporary files by default). */
  static async open(root: string = tmpdir(), pid: number = process.pid): Promise<WorkFolders> {
    await mkdir(root, { recursive: true });
    await sweepDead(root, pid);
    const path = join(root, `${namePrefix}${pid}`);
    await mkdir(path, { mode: 0o700 });
    return new WorkFolders(path);
  }

  /** Calls `run` with an empty folder of its own and removes it afterwards, however `run` ends. */
  async within<Result>(run: (folder: string) => Promise<Result>): Promise<Result> {
    const folder = await mkdtemp(join(this.path, 'task-'));
    try {
      return await run(folder);
    } finally {
      await removeFolder(folder);
    }
  }

  /** Removes the process's folder with all that is in it. */
  async close(): Promise<void> {
    await removeFolder(this.path);
  }
}

async function sweepDead(root: string, ownPid: number): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(namePrefix)) continue;
    const pid = Number(name.slice(namePrefix.length));
    if (pid === ownPid || !isAlive(pid)) await removeFolder(join(root, name));
  }
}

/** A child that is being killed may still write for a moment: hence the retries. */
const removeFolder = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
