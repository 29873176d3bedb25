import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { reportReader } from '#infra/media/child-report.ts';
import { ProcessFailed, runLimited } from '#infra/media/limited-process.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';
import { mostFileBytes } from '#infra/media/run-ffmpeg.ts';

export type MeasuringChild<Schema extends z.ZodType> = {
  /** The child's program beside this file. */
  readonly main: 'measure-picture-main.ts' | 'measure-sound-main.ts' | '../text/embed-sentences-main.ts';
  /** What it is to do; plain JSON. */
  readonly order: { readonly wallMs: number };
  readonly schema: Schema;
  readonly tools: MediaTools;
  readonly modelsFolder: string | undefined;
  readonly taskFolder: string;
  readonly signal: AbortSignal;
  /** How much the child has done so far, in its own measure. */
  readonly onDone: (done: number) => void;
};

/** What a child process is given to work with, beside its order. */
export type ChildSetting = { readonly tools: MediaTools; readonly modelsFolder?: string };

/** The child and the ffmpeg that it runs, each: decoding 8K takes over 2 GB, all else far less. */
const memoryBytes = 4 * 1024 ** 3;
/** Longer than the work inside may take, so that the inner limit speaks first and says what was slow. */
const wallMarginMs = 30_000;

/**
 * Runs a measuring program in a process of its own: the models' native code must not take the worker with it.
 * Throws `MediaFailure`.
 */
export async function runMeasuringChild<Schema extends z.ZodType>(
  child: MeasuringChild<Schema>,
): Promise<z.infer<Schema>> {
  const { tools, modelsFolder, order } = child;
  const setting: ChildSetting = { tools, ...(modelsFolder === undefined ? {} : { modelsFolder }) };
  let result: unknown;
  let failure: MediaFailure | undefined;
  try {
    await runLimited({
      tools,
      program: process.execPath,
      args: [
        fileURLToPath(new URL(child.main, import.meta.url)),
        JSON.stringify(order),
        JSON.stringify(setting),
      ],
      cwd: child.taskFolder,
      signal: child.signal,
      limits: {
        wallMs: order.wallMs + wallMarginMs,
        memory: { kind: 'data', bytes: memoryBytes },
        // No less than its ffmpeg asks for: a process cannot raise what its parent was held to.
        fileBytes: mostFileBytes,
      },
      onStdout: reportReader((report) => {
        if ('done' in report) child.onDone(report.done);
        else if ('failure' in report) failure = report.failure;
        else result = report.result;
      }),
    });
  } catch (error) {
    throw error instanceof ProcessFailed ? childFailed(error) : error;
  }
  if (failure !== undefined) throw failure;
  return child.schema.parse(result);
}

function childFailed(error: ProcessFailed): MediaFailure {
  const about = { cause: error, detail: `${error.message}: ${error.stderrTail.slice(-1500)}` };
  return error.exitSignal === 'SIGKILL'
    ? new MediaFailure('MEMORY_LIMIT', 'Analysing the video needed more memory than is allowed.', about)
    : new MediaFailure('TOOL_BROKEN', 'Analysing the video failed.', about);
}
