import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** One file of this machine, served to the workers as a source URL. */
export type SourceFileServer = {
  readonly url: string;
  /** `host:port`, for EGRESS_ALLOW. */
  readonly hostAndPort: string;
  close(): Promise<void>;
};

/** Serves `file` on a free port of 127.0.0.1, whole or in ranges, and nothing else. */
export async function serveSourceFile(file: string): Promise<SourceFileServer> {
  const path = `/${encodeURIComponent(basename(file))}`;
  const server = createServer((request, response) => {
    void answer(file, path, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const hostAndPort = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${hostAndPort}${path}`,
    hostAndPort,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(file: string, path: string, request: IncomingMessage, response: ServerResponse) {
  if (request.url !== path) return void response.writeHead(404).end();
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
  }
  const { size } = await stat(file);
  const range = parseRange(request.headers.range, size);
  if (range === 'unsatisfiable') {
    return void response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  response.writeHead(range === undefined ? 200 : 206, {
    'content-type': 'application/octet-stream',
    'content-length': end - start + 1,
    'accept-ranges': 'bytes',
    ...(range !== undefined && { 'content-range': `bytes ${start}-${end}/${size}` }),
  });
  if (request.method === 'HEAD' || size === 0) return void response.end();
  await pipeline(createReadStream(file, { start, end }), response);
}

export type ByteRange = { readonly start: number; readonly end: number };

/**
 * The one range that a `Range` header asks for, both ends included. Undefined: send the whole (no header,
 * several ranges, or one that we do not understand, as RFC 9110 allows).
 */
export function parseRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null) return undefined;
  const [, from = '', to = ''] = match;
  if (from === '' && to === '') return undefined;
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(from);
  if (start >= size) return 'unsatisfiable';
  if (to !== '' && Number(to) < start) return undefined;
  return { start, end: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
