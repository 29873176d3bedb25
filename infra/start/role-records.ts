import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listProcesses, type RunningProcess, stopProcess } from '../embedded/process-table.ts';
import { isRoleName, type RoleName, roleProgram } from './role.ts';

/** A role that runs, and who started it. */
export type RoleRecord = { readonly name: RoleName; readonly pid: number; readonly starterPid: number };

const stopLimitMs = 15_000;

/** Notes that a role runs, so that a later start finds it when we are killed. Returns how to take the note back. */
export async function recordRole(dataDir: string, record: RoleRecord): Promise<() => Promise<void>> {
  const folder = recordsFolder(dataDir);
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${record.name}-${record.pid}.json`);
  await writeFile(file, JSON.stringify(record));
  return () => rm(file, { force: true });
}

/** Stops roles whose starter was killed together with their guardian. */
export async function stopLeftOverRoles(
  dataDir: string,
  onProgress: (message: string) => void,
): Promise<void> {
  const folder = recordsFolder(dataDir);
  const files = await readdir(folder).catch(() => []);
  if (files.length === 0) return;
  const records = await Promise.all(files.map((file) => readRecord(join(folder, file))));
  const processes = await listProcesses();
  await Promise.all(
    leftOverRoles(
      records.filter((record) => record !== undefined),
      processes,
    ).map(async ({ name, pid }) => {
      onProgress(`stopping ${name} (process ${pid}) left over from a start that was killed`);
      await stopProcess(pid, 'SIGTERM', stopLimitMs);
    }),
  );
  const alive = new Set(processes.map(({ pid }) => pid));
  const stale = files.filter((_, index) => !alive.has(records[index]?.starterPid ?? 0));
  await Promise.all(stale.map((file) => rm(join(folder, file), { force: true })));
}

/** The recorded processes that still are what the record says, while their starter is gone. */
export function leftOverRoles(
  records: readonly RoleRecord[],
  processes: readonly RunningProcess[],
): readonly RoleRecord[] {
  const commandLines = new Map(processes.map(({ pid, commandLine }) => [pid, commandLine]));
  return records.filter(
    ({ name, pid, starterPid }) =>
      !commandLines.has(starterPid) && commandLines.get(pid)?.endsWith(` ${roleProgram(name)}`) === true,
  );
}

async function readRecord(file: string): Promise<RoleRecord | undefined> {
  try {
    const { name, pid, starterPid } = JSON.parse(await readFile(file, 'utf8'));
    return isRoleName(name) ? { name, pid: Number(pid), starterPid: Number(starterPid) } : undefined;
  } catch {
    return undefined; // Half written when its starter was killed.
  }
}

function recordsFolder(dataDir: string): string {
  return join(dataDir, 'roles');
}
