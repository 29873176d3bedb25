import { listProcesses, type RunningProcess, stopProcess } from './process-table.ts';
import type { StackPart, StackServer } from './stack-server.ts';

const orphanStopLimitMs = 20_000;

/** A server of this data folder that outlived its starter, with the processes that it made itself. */
export type Orphan = {
  readonly part: StackPart;
  readonly serverPids: readonly number[];
  /** PostgreSQL's own processes, which may outlive their killed server for a moment and hold its memory. */
  readonly sessionPids: readonly number[];
};

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
    orphans.map(async ({ part, serverPids, sessionPids }) => {
      onProgress(`stopping the ${part} left over from a start that was killed`);
      const stopAll = (pids: readonly number[], signal: NodeJS.Signals) =>
        Promise.all(pids.map((pid) => stopProcess(pid, signal, orphanStopLimitMs)));
      await stopAll(serverPids, part === 'postgres' ? 'SIGINT' : 'SIGTERM');
      await stopAll(sessionPids, 'SIGTERM');
    }),
  );
}

/** Which of the machine's processes are left-over servers of this folder. */
export function findOrphans(
  servers: readonly StackServer[],
  processes: readonly RunningProcess[],
): readonly Orphan[] {
  return servers.flatMap((server) => {
    const ours = processes.filter((candidate) => server.isOurs(candidate));
    const isSession = ({ commandLine }: RunningProcess) => commandLine.startsWith('postgres: ');
    const pidsOf = (found: readonly RunningProcess[]) => found.map(({ pid }) => pid);
    if (ours.length === 0) return [];
    const serverPids = pidsOf(ours.filter((candidate) => !isSession(candidate)));
    return [{ part: server.part, serverPids, sessionPids: pidsOf(ours.filter(isSession)) }];
  });
}
