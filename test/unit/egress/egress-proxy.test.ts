import { once } from 'node:events';
import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EgressProxy, type EgressSession, startEgressProxy } from '#infra/egress/egress-proxy.ts';
import type { ProxyLimits } from '#infra/egress/proxy-session.ts';
import { metrics } from '#infra/metrics.ts';

const limits: ProxyLimits = { maxConnections: 4, maxBytes: 1_000_000, idleMs: 2_000, wallMs: 20_000 };

let server: Server;
let origin: string;
let answer: RequestListener;
let proxy: EgressProxy;
let session: EgressSession;

beforeEach(async () => {
  server = createServer((request, response) => answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `platform.example:${(server.address() as AddressInfo).port}`;
  proxy = await startEgressProxy({ allow: [origin], resolve: async () => ['127.0.0.1'] });
  session = proxy.openSession(limits);
});

afterEach(async () => {
  session.close();
  await proxy.close();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

type Asked = { readonly status: number; readonly headers: Record<string, unknown>; readonly body: string };

function credentialOf(of: EgressSession): string {
  const { username, password } = new URL(of.proxyUrl);
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

type Ask = { credential?: string; method?: string; body?: string; headers?: Record<string, string> };

/** A request through the proxy, as a foreign program makes it. */
async function ask(url: string, how: Ask = {}): Promise<Asked> {
  const request = httpRequest({
    host: '127.0.0.1',
    port: proxy.port,
    path: url,
    method: how.method ?? 'GET',
    agent: false,
    headers: { 'proxy-authorization': how.credential ?? credentialOf(session), ...how.headers },
  });
  request.end(how.body);
  const [response] = await once(request, 'response');
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces).toString() };
}

async function openTunnel(authority: string, of = session): Promise<{ socket: Socket; status: number }> {
  const request = httpRequest({
    host: '127.0.0.1',
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    agent: false,
    headers: { 'proxy-authorization': credentialOf(of) },
  });
  request.end();
  const [response, socket] = await once(request, 'connect');
  return { socket, status: response.statusCode };
}

describe('a forwarded request', () => {
  test('reaches the server as it was made, without the credential and connection headers', async () => {
    let seen: { headers: Record<string, unknown>; url: string | undefined; body: string } | undefined;
    answer = async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      seen = { headers: request.headers, url: request.url, body: Buffer.concat(pieces).toString() };
      response.setHeader('set-cookie', ['a=1', 'b=2']);
      response.end('fine');
    };
    const got = await ask(`http://${origin}/watch?v=1`, {
      method: 'POST',
      body: 'question',
      headers: { cookie: 'c=3', 'proxy-connection': 'keep-alive', connection: 'x-inner', 'x-inner': '1' },
    });
    expect(got).toMatchObject({ status: 200, body: 'fine' });
    expect(got.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(seen).toMatchObject({ url: '/watch?v=1', body: 'question' });
    expect(seen?.headers).toMatchObject({ host: origin, cookie: 'c=3' });
    expect(Object.keys(seen?.headers ?? {})).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(proxy-.*|x-inner)$/)]),
    );
  });

  test('gives redirects back unfollowed', async () => {
    answer = (_request, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    expect(await ask(`http://${origin}/`)).toMatchObject({ status: 302 });
  });

  test('that breaks off at the server breaks off for the program', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    };
    await expect(ask(`http://${origin}/`)).rejects.toThrow();
  });

  test('to a closed port is told to be unreachable', async () => {
    await proxy.close();
    proxy = await startEgressProxy({ allow: ['127.0.0.1:1'] });
    session = proxy.openSession(limits);
    const got = await ask('http://127.0.0.1:1/');
    expect(got).toMatchObject({ status: 502, headers: { 'x-egress-refusal': 'UNREACHABLE' } });
  });
});

describe('a tunnel', () => {
  test('carries bytes both ways, more than any buffer holds', async () => {
    const echo = createTcpServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(
      0,
      '127.0.0.1',
    );
    await once(echo, 'listening');
    const authority = `echo.example:${(echo.address() as AddressInfo).port}`;
    const own = await startEgressProxy({ allow: [authority], resolve: async () => ['127.0.0.1'] });
    const roomy = own.openSession({ ...limits, maxBytes: 50_000_000 });
    const request = httpRequest({
      host: '127.0.0.1',
      port: own.port,
      method: 'CONNECT',
      path: authority,
      headers: { 'proxy-authorization': credentialOf(roomy) },
    });
    request.end();
    const [response, socket] = (await once(request, 'connect')) as [{ statusCode: number }, Socket];
    expect(response.statusCode).toBe(200);
    socket.end(Buffer.alloc(8_000_000, 7));
    let received = 0;
    for await (const piece of socket) received += (piece as Buffer).length;
    expect(received).toBe(8_000_000);
    expect(roomy.bytes).toBe(16_000_000);
    await own.close();
    await new Promise((closed) => echo.close(closed));
  });

  test('that is silent is closed after the idle limit', async () => {
    answer = () => undefined;
    const patient = proxy.openSession({ ...limits, idleMs: 100 });
    const { socket, status } = await openTunnel(origin, patient);
    expect(status).toBe(200);
    await once(socket.resume(), 'close');
    patient.close();
  });
});

describe('a session', () => {
  test('is needed: without its credential nothing is passed on', async () => {
    answer = (_request, response) => void response.end('reached');
    const { username } = new URL(session.proxyUrl);
    const closed = proxy.openSession(limits);
    closed.close();
    for (const credential of [
      '',
      'Basic',
      'Basic Og==',
      `Basic ${Buffer.from(`${username}:wrong`).toString('base64')}`,
      `Basic ${Buffer.from(username).toString('base64')}`,
      credentialOf(closed),
      `Bearer ${username}`,
    ]) {
      const got = await ask(`http://${origin}/`, { credential });
      expect(got).toMatchObject({ status: 407, headers: { 'x-egress-refusal': 'UNAUTHENTICATED' } });
    }
  });

  test('tells its owner what was refused, without query strings', async () => {
    const got = await ask('http://169.254.169.254/latest?token=secret');
    expect(got).toMatchObject({ status: 403, headers: { 'x-egress-refusal': 'FORBIDDEN' } });
    expect((await openTunnel('10.0.0.1:443')).status).toBe(403);
    expect(session.refused).toEqual([
      { host: '169.254.169.254', code: 'FORBIDDEN' },
      { host: '10.0.0.1', code: 'FORBIDDEN' },
    ]);
  });

  test('has so many connections at once and no more', async () => {
    answer = () => undefined;
    const narrow = proxy.openSession({ ...limits, maxConnections: 1 });
    const { socket } = await openTunnel(origin, narrow);
    const got = await ask(`http://${origin}/`, { credential: credentialOf(narrow) });
    expect(got).toMatchObject({ status: 429, headers: { 'x-egress-refusal': 'TOO_MANY_CONNECTIONS' } });
    socket.destroy();
    narrow.close();
  });

  test('ends when it has moved its bytes', async () => {
    answer = (_request, response) => {
      const pour = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
      };
      response.on('drain', pour);
      pour();
    };
    await expect(ask(`http://${origin}/`)).rejects.toThrow();
    expect(session.endedBy).toBe('TOO_MANY_BYTES');
    expect(session.bytes).toBeLessThan(2 * limits.maxBytes);
    const after = await ask(`http://${origin}/`);
    expect(after).toMatchObject({ status: 403, headers: { 'x-egress-refusal': 'TOO_MANY_BYTES' } });
  });

  test('ends with its time, in the middle of whatever it does', async () => {
    answer = (_request, response) => void response.writeHead(200).write('and so on');
    const short = proxy.openSession({ ...limits, wallMs: 150 });
    await expect(ask(`http://${origin}/`, { credential: credentialOf(short) })).rejects.toThrow();
    expect(short.endedBy).toBe('TIME_LIMIT');
  });

  test('that is closed ends its connections', async () => {
    answer = () => undefined;
    const { socket } = await openTunnel(origin);
    session.close();
    await once(socket.resume(), 'close');
  });
});

test('a peer that is no HTTP client is cut off', async () => {
  for (const bytes of [
    '\x16\x03\x01\x02\x00',
    'GET\r\n\r\n',
    `GET / HTTP/1.1\r\nx: ${'a'.repeat(100_000)}`,
  ]) {
    const socket = connect(proxy.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(bytes);
    socket.resume();
    await once(socket, 'close');
  }
});

test('its requests are counted by outcome', async () => {
  await ask('http://10.0.0.1/');
  const text = await metrics.getSingleMetricAsString('clipledger_egress_proxy_requests_total');
  expect(text).toMatch(/outcome="FORBIDDEN"\} \d/);
});
