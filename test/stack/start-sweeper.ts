import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The sweeper beside this process: it goes to work when this process ends, or at `finish`. */
export type Sweeper = {
  /** Has it clean up now; resolves when it has. */
  finish(): Promise<void>;
};

/** Starts the sweeper in a session of its own, so that a Ctrl-C in the terminal does not reach it. */
export function startSweeper(runId: string, runFolder: string): Sweeper {
  const program = fileURLToPath(new URL('sweeper.ts', import.meta.url));
  const sweeper = spawn(process.execPath, [program, runId, runFolder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => sweeper.once('exit', () => resolve()));
  sweeper.unref();
  return {
    finish: () => {
      sweeper.ref();
      sweeper.stdin.end();
      return ended;
    },
  };
}
