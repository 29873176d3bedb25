import { z } from 'zod';
import { MediaFailure, type MediaFailureCode, mediaFailureCodes } from './media-failure.ts';

/**
 * How a working child process talks to its parent: lines of JSON on its standard output, any number of
 * `done`, then one `result` or one `failure`.
 */
const reportLine = z.union([
  z.object({ done: z.number() }),
  z.object({ result: z.unknown() }),
  z.object({ failure: z.object({ code: z.string(), message: z.string(), detail: z.string() }) }),
]);
export type ReportLine = z.output<typeof reportLine>;

type Report = { readonly done: number } | { readonly result: unknown } | { readonly failure: MediaFailure };

/**
 * The parent's side: takes the child's output piece by piece and hands on what it reports. Throws errors of any
 * kind for output that is no report.
 */
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
