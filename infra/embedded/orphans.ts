import { isAlive, listProcesses, type RunningProcess, stopProcess } from './process-table.ts';
import type { StackServer } from './stack-server.ts';

const orphanStopLimitMs = 20_000;

/**
 * Stops servers of this data folder that outlived a killed starter. They are known by their command
 * line or working folder, never by a number alone: a recorded pid may be somebody else's by now.
 * Call it only as the folder's owner.
 */
export async function stopOrphans(
  servers: readonly StackServer[],
  onProgress: (message: string) => void,
): Promise<void> {
  const orphans = findOrphans(servers, await listProcesses());
  await Promise.all(
    orphans.map(async ({ part, pid }) => {
      onProgress(`stopping ${part} (process ${pid}) left over from a start that was killed`);
      if (await isAlive(pid))
        await stopProcess(pid, part === 'postgres' ? 'SIGINT' : 'SIGTERM', orphanStopLimitMs);
    }),
  );
}

/** Which of the machine's processes are left-over servers of this folder. */
export function findOrphans(
  servers: readonly StackServer[],
  processes: readonly RunningProcess[],
): { readonly part: StackServer['part']; readonly pid: number }[] {
  return servers.flatMap((server) =>
    processes.filter((candidate) => server.isOurs(candidate)).map(({ pid }) => ({ part: server.part, pid })),
  );
}
