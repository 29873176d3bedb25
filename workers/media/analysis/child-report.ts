import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { z } from 'zod';
import { MediaFailure, type MediaFailureCode, mediaFailureCodes } from '#infra/media/media-failure.ts';
import { ModelUnusable } from '../../models/model-store.ts';

/**
 * How a measuring child process talks to its parent: lines of JSON on its standard output, any number of
 * `done`, then one `result` or one `failure`.
 */
const reportLine = z.union([
  z.object({ done: z.number() }),
  z.object({ result: z.unknown() }),
  z.object({ failure: z.object({ code: z.string(), message: z.string(), detail: z.string() }) }),
]);

type Report = { readonly done: number } | { readonly result: unknown } | { readonly failure: MediaFailure };

/** The child's side: does `work` and reports how it goes. */
export async function reportWork(
  output: Writable,
  work: (onDone: (done: number) => void) => Promise<unknown>,
): Promise<void> {
  const write = (line: object): boolean => output.write(`${JSON.stringify(line)}\n`);
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

/** The parent's side: takes the child's output piece by piece and hands on what it reports. */
export function reportReader(onReport: (report: Report) => void): (piece: Buffer) => void {
  let pieces: Buffer[] = [];
  return (piece) => {
    let rest = piece;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      onReport(parsed(Buffer.concat([...pieces, rest.subarray(0, end)]).toString('utf8')));
      pieces = [];
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) pieces.push(rest);
  };
}

function parsed(line: string): Report {
  const report = reportLine.parse(JSON.parse(line));
  if (!('failure' in report)) return report;
  const { code, message, detail } = report.failure;
  return { failure: new MediaFailure(isCode(code) ? code : 'TOOL_BROKEN', message, { detail }) };
}

function isCode(code: string): code is MediaFailureCode {
  return code in mediaFailureCodes;
}
