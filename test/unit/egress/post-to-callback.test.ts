import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type CallbackPost, postToCallback } from '#infra/egress/post-to-callback.ts';
import { type Canary, startCanary } from './canary.ts';
import { forbiddenAuthorities } from './forbidden-targets.ts';

let canary: Canary | undefined;
afterEach(async () => {
  await canary?.close();
  canary = undefined;
});

const post = (url: string, more: Partial<CallbackPost> = {}) =>
  postToCallback({
    url,
    headers: { 'content-type': 'application/json', 'webhook-id': 'a' },
    body: '{"text":"✓"}',
    timeoutMs: 1_000,
    allow: [],
    signal: new AbortController().signal,
    ...more,
  });

/** An endpoint that may be called although it is on this machine. */
async function allowed(answer: Parameters<typeof startCanary>[0]) {
  canary = await startCanary(answer);
  const host = `127.0.0.1:${canary.port}`;
  return { url: `http://${host}/path?query=secret`, allow: [host] };
}

test('the body and the headers arrive as they were given, and the answer is a status', async () => {
  const { url, allow } = await allowed(async (request, response) => {
    request.setEncoding('utf8');
    const body = (await request.toArray()).join('');
    const { 'content-type': type, 'content-length': length, 'webhook-id': id } = request.headers;
    const isAsSent = body === '{"text":"✓"}' && type === 'application/json' && length === '14' && id === 'a';
    response.writeHead(isAsSent ? 202 : 400, { 'retry-after': '5' }).end('thanks');
  });
  expect(await post(url, { allow })).toEqual({ status: 202, retryAfter: '5' });
  expect(canary?.hits).toEqual(['POST /path?query=secret']);
});

test.each(forbiddenAuthorities)('nothing is sent to %s', async (authority) => {
  canary = await startCanary();
  const url = `http://${authority.replace('%p', String(canary.port))}/hook`;
  await expect(post(url)).rejects.toMatchObject({ name: 'EgressFailure' });
  expect(canary.connections()).toBe(0);
});

test.each([
  ['a private address', ['10.0.0.1']],
  ['a private address among public ones', ['93.184.216.34', '127.0.0.1']],
])('a name that has %s is not called', async (_, addresses) => {
  canary = await startCanary();
  const url = `http://rebound.example:${canary.port}/`;
  await expect(post(url, { resolve: async () => addresses })).rejects.toMatchObject({
    code: 'FORBIDDEN',
    message: 'Nothing is sent to rebound.example: it is not on the public internet.',
  });
  expect(canary.connections()).toBe(0);
});

test('a name is resolved once, and the connection goes where that answer said', async () => {
  canary = await startCanary((_, response) => void response.writeHead(200).end());
  const host = `rebound.example:${canary.port}`;
  let answers = 0;
  const resolve = async () => {
    answers += 1;
    return answers === 1 ? ['127.0.0.1'] : ['203.0.113.1'];
  };
  expect(await post(`http://${host}/`, { resolve, allow: [host] })).toMatchObject({ status: 200 });
  expect(answers).toBe(1);
});

test('a redirect is an answer and not followed', async () => {
  const { url, allow } = await allowed(
    (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
  );
  expect(await post(url, { allow })).toMatchObject({ status: 302 });
  expect(canary?.hits).toHaveLength(1);
});

test('an endpoint that never answers is left after the time limit', async () => {
  const { url, allow } = await allowed(() => undefined);
  await expect(post(url, { allow })).rejects.toMatchObject({
    code: 'TIME_LIMIT',
    message: '127.0.0.1 did not answer within 1 s.',
  });
});

test('an endless answer counts by its status', async () => {
  const { url, allow } = await allowed((_, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('x'.repeat(100)), 20);
    response.once('close', () => clearInterval(drip));
  });
  expect(await post(url, { allow })).toMatchObject({ status: 200 });
});

test('a connection that breaks and one that is refused are told without the path', async () => {
  const { url, allow } = await allowed((request) => request.socket.destroy());
  const sentence = 'The connection to 127.0.0.1 failed.';
  await expect(post(url, { allow })).rejects.toMatchObject({ code: 'UNAVAILABLE', message: sentence });
  await canary?.close();
  canary = undefined;
  await expect(post(url, { allow })).rejects.toMatchObject({ code: 'UNAVAILABLE', message: sentence });
});

test('a server without a certificate of its own is not trusted with anything', async () => {
  const server = createTlsServer({}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(post(`https://${host}/`, { allow: [host] })).rejects.toMatchObject({ name: 'EgressFailure' });
  server.close();
});

test('the caller can break it off', async () => {
  const stop = new AbortController();
  const { url, allow } = await allowed(() => stop.abort());
  await expect(post(url, { allow, signal: stop.signal })).rejects.toMatchObject({ code: 'ABORTED' });
});
