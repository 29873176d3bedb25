import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Starts a worker with scripted pipelines as a process of its own. */
export function startWorkerProcess(environment: Readonly<Record<string, string | undefined>>): ChildProcess {
  const program = new URL('scripted-worker.ts', import.meta.url).pathname;
  return spawn(process.execPath, [program], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** Ends the process, unless it has ended; resolves when it is gone. */
export async function stopProcess(worker: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const exited = once(worker, 'exit');
  worker.kill(signal);
  await exited;
}
