import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A file elsewhere, read in pieces. */
export type RangedFile = {
  readonly size: number;
  /** The bytes from `offset` to the end of what one read brings; empty at the end of the file. */
  read(offset: number): Promise<Buffer>;
};

type RangeServer = {
  /** On loopback, with a path that nobody can guess. */
  readonly url: string;
  /** Why the file could not be read on, when that is why the reader failed. */
  readonly failure: () => unknown;
  close(): Promise<void>;
};

/**
 * Stands for a file elsewhere on loopback, so that ffprobe can seek in it without a network of its own: it asks
 * here, and only this process asks the remote server or the storage, within the file's limits.
 */
async function serveRanges(file: RangedFile): Promise<RangeServer> {
  const path = `/${randomBytes(18).toString('hex')}`;
  let failure: unknown;
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    answer(file, path, request, response).catch((error: unknown) => {
      failure ??= error;
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    failure: () => failure,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Runs `work` with the server's address. When the file could not be read, that is the reason why it fails. */
export async function withRangeServer<Result>(
  file: RangedFile,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const server = await serveRanges(file);
  try {
    const result = await work(server.url);
    if (server.failure() !== undefined) throw server.failure();
    return result;
  } catch (error) {
    throw server.failure() ?? error;
  } finally {
    await server.close();
  }
}

async function answer(
  file: RangedFile,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.url !== path) return void response.writeHead(404).end();
  const start = Number(/^bytes=(\d{1,15})-/.exec(request.headers.range ?? 'bytes=0-')?.[1] ?? 0);
  if (start >= file.size) {
    return void response.writeHead(416, { 'content-range': `bytes */${file.size}` }).end();
  }
  response.writeHead(206, {
    'accept-ranges': 'bytes',
    'content-type': 'application/octet-stream',
    'content-length': file.size - start,
    'content-range': `bytes ${start}-${file.size - 1}/${file.size}`,
    connection: 'close',
  });
  for (let offset = start; offset < file.size && !response.destroyed; ) {
    const piece = await file.read(offset);
    offset += piece.length;
    // The reader ends the connection where it has seen enough: only what it takes is fetched on.
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('drain', resolve);
  response.once('close', resolve);
  await promise;
  response.off('drain', resolve);
  response.off('close', resolve);
}
