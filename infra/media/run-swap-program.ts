import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { reportReader } from './child-report.ts';
import { ProcessFailed, runLimited } from './limited-process.ts';
import { MediaFailure } from './media-failure.ts';
import type { MediaTools } from './media-tools.ts';
import { mostFileBytes } from './run-ffmpeg.ts';

/** What the program that swaps faces is given to work with, beside its order. */
export type SwapProgramSetting = { readonly tools: MediaTools; readonly modelsFolder?: string };

/** In the folder where it runs: an order may be too large for an argument. */
export const swapOrderFile = 'swap-order.json';

export type SwapProgramRun = {
  /** Where the program lies. */
  readonly program: string;
  /** What it is to do; plain JSON. */
  readonly order: object;
  readonly tools: MediaTools;
  /** The operator's own models (`MODELS_DIR`). */
  readonly modelsFolder: string | undefined;
  /** For this run alone; the caller removes it afterwards. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly limits: {
    readonly wallMs: number;
    readonly memoryBytes: number;
    /** The most that it may report. */
    readonly reportBytes: number;
  };
  /** How much is done, 0 to 1. */
  readonly onDone?: (done: number) => void;
};

/**
 * Has the program that swaps faces do one order, in a process of its own: native code that reads strangers' files
 * must not take its parent with it, whatever it says or does. Gives its result; throws `MediaFailure`.
 */
export async function runSwapProgram(run: SwapProgramRun): Promise<unknown> {
  const { tools, modelsFolder, folder, limits } = run;
  await writeFile(join(folder, swapOrderFile), JSON.stringify(run.order));
  const setting: SwapProgramSetting = { tools, ...(modelsFolder === undefined ? {} : { modelsFolder }) };
  let result: unknown;
  let failure: MediaFailure | undefined;
  const read = reportReader((report) => {
    if ('done' in report) run.onDone?.(report.done);
    else if ('failure' in report) failure = report.failure;
    else result = report.result;
  });
  try {
    await runLimited({
      tools,
      program: process.execPath,
      args: [run.program, JSON.stringify(setting)],
      cwd: folder,
      signal: run.signal,
      limits: {
        wallMs: limits.wallMs,
        memory: { kind: 'data', bytes: limits.memoryBytes },
        // No less than its ffmpeg asks for: a process cannot raise what its parent was held to.
        fileBytes: mostFileBytes,
      },
      outputs: [(output) => readReports(output, limits.reportBytes, read)],
    });
  } catch (error) {
    throw error instanceof ProcessFailed ? programFailed(error) : error;
  }
  if (failure !== undefined) throw failure;
  if (result === undefined) throw new MediaFailure('TOOL_BROKEN', swappingFailed);
  return result;
}

const swappingFailed = 'Swapping the face failed.';

async function readReports(
  output: Readable,
  mostBytes: number,
  read: (piece: Buffer) => void,
): Promise<void> {
  let bytes = 0;
  try {
    for await (const piece of output as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > mostBytes) throw new Error(`It reported more than ${mostBytes} bytes.`);
      read(piece);
    }
  } catch (cause) {
    throw new MediaFailure('TOOL_BROKEN', swappingFailed, { cause, detail: String(cause) });
  }
}

function programFailed(error: ProcessFailed): MediaFailure {
  const about = { cause: error, detail: `${error.message}: ${error.stderrTail.slice(-1500)}` };
  return error.exitSignal === 'SIGKILL'
    ? new MediaFailure('MEMORY_LIMIT', 'Swapping the face needed more memory than is allowed.', about)
    : new MediaFailure('TOOL_BROKEN', swappingFailed, about);
}
