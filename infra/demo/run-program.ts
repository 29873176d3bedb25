import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

type ProgramRun = {
  /** The program's file, from the top of the repository. */
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
};

const limitMs = 120_000;
const mostOutputBytes = 16 * 1024 * 1024;

/** Runs one of our commands as a user would and returns its stdout; throws with what it said on stderr. */
export async function runProgram({ program, args, environment, signal }: ProgramRun): Promise<string> {
  const file = fileURLToPath(new URL(`../../${program}`, import.meta.url));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], {
      env: { ...environment },
      signal,
      timeout: limitMs,
      maxBuffer: mostOutputBytes,
    });
    return stdout;
  } catch (cause) {
    signal.throwIfAborted();
    const { stderr, message } = cause as { stderr?: string; message: string };
    throw new Error(`${program} ${args.join(' ')} failed: ${stderr?.trim() || message}`, { cause });
  }
}
