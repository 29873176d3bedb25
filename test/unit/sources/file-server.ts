import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { basename, join } from 'node:path';

export type SentBytes = { body: number; ranges: string[] };

/** A plain web server's answers for the files of one folder; `ranges: false` plays one that knows none. */
export function fileAnswers(folder: string, sent: SentBytes, options: { ranges: boolean }): RequestListener {
  return (request, response) => {
    answer(folder, sent, options, request, response).catch(() => response.writeHead(404).end());
  };
}

async function answer(
  folder: string,
  sent: SentBytes,
  options: { ranges: boolean },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = join(folder, basename(decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname)));
  const { size } = await stat(path);
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  if (range !== null && options.ranges) {
    const start = Number(range[1]);
    if (start >= size) return void response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
    const end = Math.min(size - 1, range[2] === '' ? size - 1 : Number(range[2]));
    sent.ranges.push(`${start}-${end}`);
    response.writeHead(206, {
      'content-range': `bytes ${start}-${end}/${size}`,
      'content-length': end - start + 1,
    });
    pour(path, response, sent, start, end);
    return;
  }
  response.writeHead(200, { 'content-length': size });
  if (size === 0) return void response.end();
  pour(path, response, sent, 0, size - 1);
}

function pour(path: string, response: ServerResponse, sent: SentBytes, start: number, end: number): void {
  const file = createReadStream(path, { start, end });
  file.on('data', (piece) => {
    sent.body += piece.length;
  });
  response.once('close', () => file.destroy());
  file.pipe(response);
}
