import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { MediaFailure } from './media-failure.ts';
import type { MediaTools } from './media-tools.ts';

export type ProcessLimits = {
  readonly wallMs: number;
  /**
   * The most memory it may map. `addressSpace` counts everything and suits ffmpeg; `data` leaves out what is
   * only reserved and suits Node, whose engine reserves far more than it uses.
   */
  readonly memory: { readonly kind: 'addressSpace' | 'data'; readonly bytes: number };
  /** The largest file it may write. */
  readonly fileBytes: number;
};

export type LimitedProcess = {
  readonly tools: MediaTools;
  readonly program: string;
  readonly args: readonly string[];
  /** The task's folder: where it runs. */
  readonly cwd: string;
  /** Added to the minimal environment, or in place of its entries. */
  readonly env?: Readonly<Record<string, string>>;
  readonly limits: ProcessLimits;
  readonly signal: AbortSignal;
  /** Each piece of its standard output; without it the output is dropped. */
  readonly onStdout?: (piece: Buffer) => void;
  /** Each piece of its standard error, of which otherwise only the tail is kept. */
  readonly onStderr?: (piece: Buffer) => void;
  /**
   * Instead of `onStdout`: readers of its standard output and, from the second on, of its descriptors 3, 4 and
   * so on. They set the pace: the process waits until they take more. Where one throws, the process is
   * stopped and that error thrown.
   */
  readonly outputs?: readonly ((output: Readable) => Promise<void>)[];
  /**
   * Writes its standard input and ends it; without it the process has none. Where this throws, the process is
   * stopped and that error thrown. That the process no longer reads is no error: it says itself why it ended.
   */
  readonly input?: (input: Writable) => Promise<void>;
};

/** A child process ended badly: for the module that ran it, which knows what that means. */
export class ProcessFailed extends Error {
  override readonly name = 'ProcessFailed';
  readonly exitCode: number | null;
  readonly exitSignal: NodeJS.Signals | null;
  readonly stderrTail: string;

  constructor(
    program: string,
    exitCode: number | null,
    exitSignal: NodeJS.Signals | null,
    stderrTail: string,
  ) {
    super(`${program} ended with ${exitSignal ?? `code ${exitCode}`}`);
    this.exitCode = exitCode;
    this.exitSignal = exitSignal;
    this.stderrTail = stderrTail;
  }
}

const stderrTailBytes = 8 * 1024;
/** From SIGTERM to SIGKILL; ffmpeg closes its file on SIGTERM in well under a second. */
const graceMs = 2_000;
/** CPU seconds allowed beyond what the wall clock gives to all cores: a net under a lost parent. */
const cpuSecondsPerWallSecond = 8;

/**
 * Runs a program on untrusted material: limits on time, memory and file size, a minimal environment, SIGTERM
 * and then SIGKILL when it overruns or the signal aborts, and never longer than this process lives.
 * Returns the tail of its stderr; throws `MediaFailure` for limits and `ProcessFailed` for a bad end.
 */
export async function runLimited(run: LimitedProcess): Promise<string> {
  throwIfAborted(run.signal);
  const [program, args] = withLimits(run);
  const child = spawn(program, args, {
    cwd: run.cwd,
    // LC_ALL keeps numbers in stderr parseable; one malloc arena per thread would eat the address space.
    env: {
      LC_ALL: 'C',
      MALLOC_ARENA_MAX: '2',
      HOME: run.cwd,
      PATH: '/usr/bin:/bin',
      AV_LOG_FORCE_NOCOLOR: '1',
      ...run.env,
    },
    stdio: standardStreams(run),
  });
  const tail = keepTail(child);
  const stop = stopper(child);
  const limit = setTimeout(() => stop('time'), run.limits.wallMs);
  const abort = () => stop('abort');
  run.signal.addEventListener('abort', abort, { once: true });
  try {
    if (run.onStdout !== undefined) child.stdout?.on('data', run.onStdout);
    if (run.onStderr !== undefined) child.stderr?.on('data', run.onStderr);
    const read = Promise.all([readOutputs(run, child, stop), writeInput(run, child, stop)]);
    read.catch(() => undefined);
    const [exitCode, exitSignal] = await exited(child);
    if (stop.reason === 'abort') throwIfAborted(run.signal);
    if (stop.reason === 'reader') await read;
    if (stop.reason === 'time' || exitSignal === 'SIGXCPU') throw timeLimit(run, tail());
    if (exitCode !== 0) throw new ProcessFailed(run.program, exitCode, exitSignal, tail());
    await read;
    return tail();
  } finally {
    clearTimeout(limit);
    stop.clear();
    run.signal.removeEventListener('abort', abort);
  }
}

function standardStreams(run: LimitedProcess): ('ignore' | 'pipe')[] {
  const further = (run.outputs ?? []).slice(1).map(() => 'pipe' as const);
  const isRead = run.onStdout !== undefined || run.outputs !== undefined;
  const input = run.input === undefined ? 'ignore' : 'pipe';
  return [input, isRead ? 'pipe' : 'ignore', 'pipe', ...further];
}

/** Settles when all input is written or the process has ended; a writer that fails takes the process with it. */
async function writeInput(run: LimitedProcess, child: ChildProcess, stop: Stopper): Promise<void> {
  const { stdin } = child;
  if (run.input === undefined || stdin === null) return;
  const isClosed = once(child, 'close').then(
    () => undefined,
    () => undefined,
  );
  // EPIPE comes here when the process ends early.
  stdin.on('error', () => stdin.destroy());
  const writing = run.input(stdin);
  writing.catch(() => stop('reader'));
  await Promise.race([writing, isClosed]);
}

/** Settles when all outputs are read; a reader that fails takes the process with it. */
function readOutputs(run: LimitedProcess, child: ChildProcess, stop: Stopper): Promise<unknown> {
  const streams = [child.stdio[1], ...child.stdio.slice(3)] as Readable[];
  const reading = Promise.all((run.outputs ?? []).map((read, index) => read(streams[index] as Readable)));
  reading.catch(() => {
    stop('reader');
    for (const stream of streams) stream.destroy();
  });
  return reading;
}

function withLimits(run: LimitedProcess): [string, string[]] {
  const { tools, limits } = run;
  const command: string[] = [run.program, ...run.args];
  if (tools.prlimitPath !== undefined) {
    const memory = limits.memory.kind === 'data' ? 'data' : 'as';
    const cpuSeconds = Math.ceil((limits.wallMs / 1000) * cpuSecondsPerWallSecond);
    const flags = [
      `--${memory}=${limits.memory.bytes}`,
      `--fsize=${limits.fileBytes}`,
      `--cpu=${cpuSeconds}`,
    ];
    command.unshift(tools.prlimitPath, ...flags, '--core=0', '--');
  }
  // The kernel kills the child with its parent, so that a worker's kill -9 leaves no orphan at work.
  if (tools.setprivPath !== undefined) command.unshift(tools.setprivPath, '--pdeathsig', 'KILL', '--');
  const [program = run.program, ...args] = command;
  return [program, args];
}

async function exited(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  try {
    const [exitCode, exitSignal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    return [exitCode, exitSignal];
  } catch (error) {
    throw new MediaFailure('TOOL_BROKEN', 'The media tools could not be started.', { cause: error });
  }
}

type StopReason = 'time' | 'abort' | 'reader';
type Stopper = { (reason: StopReason): void; reason: StopReason | undefined; clear(): void };

function stopper(child: ChildProcess): Stopper {
  let kill: NodeJS.Timeout | undefined;
  const stop: Stopper = (reason) => {
    if (stop.reason !== undefined) return;
    stop.reason = reason;
    child.kill('SIGTERM');
    kill = setTimeout(() => child.kill('SIGKILL'), graceMs);
  };
  stop.reason = undefined;
  stop.clear = () => clearTimeout(kill);
  return stop;
}

function keepTail(child: ChildProcess): () => string {
  let tail = Buffer.alloc(0);
  child.stderr?.on('data', (piece: Buffer) => {
    tail = Buffer.concat([tail, piece]).subarray(-stderrTailBytes);
  });
  return () => tail.toString('utf8');
}

function timeLimit(run: LimitedProcess, detail: string): MediaFailure {
  const seconds = Math.round(run.limits.wallMs / 1000);
  return new MediaFailure('TIME_LIMIT', `Working on the video took longer than the limit of ${seconds} s.`, {
    detail,
  });
}

/** Throws the failure of work that its caller stopped. */
export function throwIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw new MediaFailure('ABORTED', 'The work was stopped.', { cause: signal.reason });
}
