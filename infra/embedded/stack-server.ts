import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedProcess } from './guarded-processes.ts';
import type { RunningProcess } from './process-table.ts';
import { tailOfLog } from './server-log.ts';

export type StackPart = 'kafka' | 'postgres' | 's3';

export const stackParts: readonly StackPart[] = ['kafka', 'postgres', 's3'];

/** One server of the embedded stack on its own folder below the data folder. */
export type StackServer = {
  readonly part: StackPart;
  /** Makes what the first start needs; does nothing where it has been done. */
  prepare(onProgress: (message: string) => void): Promise<void>;
  /** Whether `candidate` is a server of exactly this folder, left over from a start that was killed. */
  isOurs(candidate: RunningProcess): boolean;
  launch(): Promise<GuardedProcess>;
  /** One look whether it serves; false when it does not yet. */
  isServing(): Promise<boolean>;
  readonly logFile: string;
};

const startLimitMs = 90_000;
const pollMs = 25;

/** The server ended before it served; the message carries the end of its log. */
export class ServerEnded extends Error {
  override readonly name = 'ServerEnded';
}

/** Launches the server and waits until it serves; stops it again when `signal` gives the wait up. */
export async function startServer(server: StackServer, signal?: AbortSignal): Promise<GuardedProcess> {
  const running = await server.launch();
  const limit = performance.now() + startLimitMs;
  while (!(await server.isServing())) {
    if (running.hasExited()) {
      throw new ServerEnded(
        `${server.part} ended while it started; the end of ${server.logFile}:\n${await tailOfLog(server.logFile)}`,
      );
    }
    if (signal?.aborted || performance.now() > limit) {
      await running.stop();
      signal?.throwIfAborted();
      throw new Error(
        `${server.part} did not serve within ${startLimitMs / 1_000} s; see ${server.logFile}.`,
      );
    }
    await sleep(pollMs);
  }
  return running;
}
