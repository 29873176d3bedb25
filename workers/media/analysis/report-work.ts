import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { ReportLine } from '#infra/media/child-report.ts';
import { MediaFailure, type MediaFailureCode } from '#infra/media/media-failure.ts';
import { ModelUnusable } from '../../models/model-store.ts';

/** The child's side of `child-report.ts`: does `work` and reports how it goes. */
export async function reportWork(
  output: Writable,
  work: (onDone: (done: number) => void) => Promise<unknown>,
): Promise<void> {
  const write = (line: ReportLine): boolean => output.write(`${JSON.stringify(line)}\n`);
  const ended = await work((done) => write({ done })).then(
    (result) => ({ result }),
    (error: unknown) => ({ failure: describe(error) }),
  );
  // A pipe takes the last line only piece by piece: the process must not end before.
  if (!write(ended)) await once(output, 'drain');
}

function describe(error: unknown): { code: MediaFailureCode; message: string; detail: string } {
  if (error instanceof MediaFailure) {
    return { code: error.code, message: error.message, detail: error.detail ?? '' };
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message =
    error instanceof ModelUnusable
      ? 'The models that the video is analysed with are not usable.'
      : 'Analysing the video failed.';
  return { code: 'TOOL_BROKEN', message, detail };
}
