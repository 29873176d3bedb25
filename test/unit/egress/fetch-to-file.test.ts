import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EgressFailure } from '#infra/egress/egress-failure.ts';
import { type FetchToFile, fetchToFile } from '#infra/egress/fetch-to-file.ts';

let folder: string;
let server: Server;
let origin: string;
let hits: string[];
let answer: RequestListener;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'egress-'));
  hits = [];
  server = createServer((request, response) => {
    hits.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  origin = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await rm(folder, { recursive: true, force: true });
});

function fetching(over: Partial<FetchToFile> = {}): Promise<{ bytes: number; sha256: string }> {
  return fetchToFile({
    url: `http://${origin}/v.mp4`,
    path: join(folder, 'source'),
    what: 'video',
    maxBytes: 1_000_000,
    timeoutMs: 5_000,
    idleTimeoutMs: 2_000,
    allow: [origin],
    signal: new AbortController().signal,
    ...over,
  });
}

async function failure(over: Partial<FetchToFile> = {}): Promise<EgressFailure> {
  const error = await fetching(over).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(EgressFailure);
  return error as EgressFailure;
}

describe('fetching to a file', () => {
  test('a server without length or ranges works, and the bytes are hashed', async () => {
    answer = (_request, response) => {
      response.write('hello ');
      response.end('world');
    };
    const copied = await fetching();
    expect(copied).toEqual({
      bytes: 11,
      sha256: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
    });
    expect(await readFile(join(folder, 'source'), 'utf8')).toBe('hello world');
  });

  test('an answer without any framing, ended by closing the connection, works', async () => {
    answer = (_request, response) => {
      response.socket?.end('HTTP/1.0 200 OK\r\n\r\nold server');
    };
    expect((await fetching()).bytes).toBe(10);
  });

  test('an announced size over the limit is refused before a byte is read', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '1000001' }).flushHeaders();
    };
    expect(await failure()).toMatchObject({ code: 'TOO_LARGE', retryable: false });
  });

  test('an endless answer is cut at the limit', async () => {
    answer = (_request, response) => {
      const block = Buffer.alloc(64 * 1024);
      const pour = () => {
        while (!response.destroyed && response.write(block));
      };
      response.on('drain', pour);
      pour();
    };
    const error = await failure();
    expect(error).toMatchObject({ code: 'TOO_LARGE' });
    expect(error.message).toBe('The video is larger than the limit of 1 MB.');
  });

  test('a server that stops in the middle is given up after the idle limit', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('x');
    };
    expect(await failure({ idleTimeoutMs: 150 })).toMatchObject({ code: 'TIME_LIMIT', retryable: true });
  });

  test('a server that never answers is given up after the whole limit', async () => {
    answer = () => undefined;
    const error = await failure({ timeoutMs: 200 });
    expect(error).toMatchObject({ code: 'TIME_LIMIT', retryable: true });
  });

  test('a connection cut before the announced length is not taken for the whole file', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('x', () => response.destroy());
    };
    expect(await failure()).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  });

  test.each([
    [404, 'NOT_FOUND', false],
    [403, 'REFUSED', false],
    [204, 'REFUSED', false],
    [429, 'UNAVAILABLE', true],
    [503, 'UNAVAILABLE', true],
  ])('status %i is %s', async (status, code, retryable) => {
    answer = (_request, response) => void response.writeHead(status).end(status === 204 ? undefined : 'no');
    const error = await failure({ url: `http://${origin}/v.mp4?secret=1` });
    expect(error).toMatchObject({ code, retryable });
    expect(error.message).toContain(String(status));
    expect(error.message).not.toContain('secret');
  });

  test('aborting stops it', async () => {
    const abort = new AbortController();
    answer = () => abort.abort();
    expect(await failure({ signal: abort.signal })).toMatchObject({ code: 'ABORTED' });
  });

  test('a closed port is a failure that may pass', async () => {
    const error = await failure({ url: 'http://127.0.0.1:1/', allow: ['127.0.0.1:1'] });
    expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  });
});

describe('the egress guard', () => {
  test('redirects are followed, five at most', async () => {
    answer = (request, response) => {
      const step = Number((request.url ?? '/0').slice(1));
      if (step === 0) response.end('there');
      else response.writeHead(302, { location: `/${step - 1}` }).end();
    };
    expect((await fetching({ url: `http://${origin}/5` })).bytes).toBe(5);
    const error = await failure({ url: `http://${origin}/6`, path: join(folder, 'second') });
    expect(error.code).toBe('TOO_MANY_REDIRECTS');
  });

  test.each([
    'http://127.0.0.1:1/inner',
    'http://2130706433:1/inner',
    'http://[::ffff:127.0.0.1]:1/inner',
    'http://localhost:1/inner',
    'http://169.254.169.254/latest/meta-data/',
    'http://user:secret@example.com/',
    'file:///etc/passwd',
    'ftp://example.com/',
  ])('a redirect to %s is refused', async (location) => {
    answer = (_request, response) => void response.writeHead(301, { location }).end();
    expect(await failure()).toMatchObject({ code: 'FORBIDDEN', retryable: false });
    expect(hits).toEqual(['/v.mp4']);
  });

  test('a name that resolves to an inner address is refused, also among public ones', async () => {
    const port = origin.split(':')[1];
    for (const addresses of [['127.0.0.1'], ['::1'], ['93.184.215.14', '10.0.0.1'], ['::ffff:7f00:1']]) {
      const error = await failure({
        url: `http://rebound.example:${port}/v.mp4`,
        resolve: async () => addresses,
      });
      expect(error).toMatchObject({ code: 'FORBIDDEN' });
      expect(error.message).toContain('rebound.example');
    }
    expect(hits).toEqual([]);
  });

  test('each hop is resolved once and again: an answer that changes is caught, and nothing is fetched', async () => {
    const port = origin.split(':')[1];
    const asked: string[] = [];
    const allow = [`first.example:${port}`];
    answer = (_request, response) => {
      response.writeHead(302, { location: `http://second.example:${port}/inner` }).end();
    };
    const error = await failure({
      url: `http://first.example:${port}/`,
      allow,
      resolve: async (hostname) => {
        asked.push(hostname);
        return ['127.0.0.1'];
      },
    });
    expect(error.code).toBe('FORBIDDEN');
    expect(asked).toEqual(['first.example', 'second.example']);
    expect(hits).toEqual(['/']);
  });

  test('the connection goes to the address that was checked, and the server sees the name', async () => {
    const port = origin.split(':')[1];
    let host: string | undefined;
    answer = (request, response) => {
      host = request.headers.host;
      response.end('x');
    };
    await fetching({
      url: `http://pinned.example:${port}/`,
      allow: [`pinned.example:${port}`],
      resolve: async () => ['127.0.0.1'],
    });
    expect(host).toBe(`pinned.example:${port}`);
  });
});
