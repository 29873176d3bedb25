import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { PlatformDescription } from './platform.ts';

/** A web server with files for the service to fetch. */
export type MediaServer = {
  /** The URL of a path, as the service reaches it from wherever it runs. */
  url(path: string): string;
  /** The value of `EGRESS_ALLOW` that lets the service in here: private addresses are refused otherwise. */
  readonly egressAllow: string;
  /** The paths that were asked for, in order. */
  readonly requests: readonly string[];
  close(): Promise<void>;
};

/** Serves `files` (URL path → file on disk), with ranges; everything else is 404. */
export async function startMediaServer(
  platform: Pick<PlatformDescription, 'containers'>,
  files: Readonly<Record<string, string>>,
): Promise<MediaServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').replace(/\?.*$/, '');
    requests.push(path);
    const file = files[path];
    if (file === undefined) response.writeHead(404).end('There is no such file.');
    else sendFile(file, request.headers.range, response).catch(() => response.destroy());
  });
  const listenAddress = platform.containers?.hostAddress ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, listenAddress, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const host = `${platform.containers?.hostName ?? '127.0.0.1'}:${port}`;
  return {
    url: (path) => `http://${host}${path}`,
    egressAllow: host,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function sendFile(file: string, range: string | undefined, response: ServerResponse): Promise<void> {
  const { size } = await stat(file);
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  const start = first === undefined ? 0 : Number(first);
  const end = last === undefined || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (start > end) {
    response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
    return;
  }
  response.writeHead(first === undefined ? 200 : 206, {
    'content-type': 'video/mp4',
    'content-length': end - start + 1,
    'accept-ranges': 'bytes',
    ...(first !== undefined && { 'content-range': `bytes ${start}-${end}/${size}` }),
  });
  createReadStream(file, { start, end })
    .on('error', () => response.destroy())
    .pipe(response);
}
