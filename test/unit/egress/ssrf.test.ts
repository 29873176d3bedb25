import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { EgressFailure } from '#infra/egress/egress-failure.ts';
import { type EgressProxy, type EgressSession, startEgressProxy } from '#infra/egress/egress-proxy.ts';
import { forbiddenOnItsFace } from '#infra/egress/forbidden-url.ts';
import { guardedRequest } from '#infra/egress/guarded-request.ts';
import { type Canary, startCanary } from './canary.ts';
import { forbiddenAuthorities, forbiddenUrls, resolveForTest, withPort } from './forbidden-targets.ts';

let canary: Canary;
/** A public host in the test's eyes: the one that redirects where it is told to. */
let redirecting: Canary;
let proxy: EgressProxy;
let session: EgressSession;

beforeAll(async () => {
  canary = await startCanary();
  redirecting = await startCanary((request, response) => {
    const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to') ?? '';
    response.writeHead(302, { location: encodeURI(to).replaceAll('%25', '%') }).end();
  });
  const allow = [`redirects.example:${redirecting.port}`];
  proxy = await startEgressProxy({ allow, resolve: resolveForTest });
  session = proxy.openSession({ maxConnections: 8, maxBytes: 10_000_000, idleMs: 2_000, wallMs: 60_000 });
});

afterAll(async () => {
  session.close();
  await proxy.close();
  await redirecting.close();
  await canary.close();
});

afterEach(() => {
  expect(canary.connections()).toBe(0);
});

const authorities = () => forbiddenAuthorities.map((authority) => withPort(authority, canary.port));

function guardFailure(url: string, resolve = resolveForTest): Promise<unknown> {
  const allow = [`redirects.example:${redirecting.port}`];
  const signal = AbortSignal.timeout(3_000);
  return guardedRequest({ url, what: 'video', allow, idleTimeoutMs: 1_000, signal, resolve }).then(
    async (response) => {
      await response.close();
      return `fetched with status ${response.status}`;
    },
    (error: unknown) => error,
  );
}

/** Sends bytes to the proxy as they are, so that no client of ours tidies up a spelling first. */
async function rawExchange(requestLine: string): Promise<string> {
  const credential = Buffer.from(
    new URL(session.proxyUrl).username.concat(':', new URL(session.proxyUrl).password),
  );
  const socket = connect(proxy.port, '127.0.0.1');
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.on('error', () => undefined);
  socket.write(
    `${requestLine} HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: Basic ${credential.toString('base64')}\r\nConnection: close\r\n\r\n`,
  );
  await once(socket, 'close');
  return Buffer.concat(pieces).toString('latin1');
}

/** Refused by the proxy's own words, or not even HTTP and cut off; never passed on. */
function expectRefused(answer: string): void {
  if (answer === '') return;
  expect(answer).toMatch(/^HTTP\/1\.1 (400|403|502) /);
  expect(answer).toMatch(/^x-egress-refusal: (FORBIDDEN|NOT_FOUND|BAD_REQUEST)\r$|^HTTP\/1\.1 400 /m);
}

test('the table has at least sixty spellings', () => {
  expect(new Set([...forbiddenAuthorities, ...forbiddenUrls]).size).toBeGreaterThanOrEqual(60);
});

test('the canary sings when it is reached', async () => {
  const other = await startCanary();
  for (const host of ['127.0.0.1', '127.1', '[::1]']) {
    expect((await fetch(`http://${host}:${other.port}/`)).status).toBe(200);
  }
  expect(other.connections()).toBe(3);
  await other.close();
});

describe('the guard', () => {
  test.each(forbiddenAuthorities)('does not fetch http://%s', async (authority) => {
    for (const scheme of ['http', 'https']) {
      const error = await guardFailure(`${scheme}://${withPort(authority, canary.port)}/inner`);
      expect(error).toBeInstanceOf(EgressFailure);
      expect((error as EgressFailure).code).toMatch(/^(FORBIDDEN|NOT_FOUND)$/);
    }
  });

  test.each(forbiddenUrls)('does not fetch %j', async (url) => {
    const target = withPort(url, canary.port);
    expect(forbiddenOnItsFace(target)).toMatch(/^The URL .+\.$/);
    expect(await guardFailure(target)).toMatchObject({ code: 'FORBIDDEN' });
  });

  test('follows no redirect to any of them', async () => {
    const targets = [...authorities().map((authority) => `http://${authority}/inner`), 'file:///etc/passwd'];
    for (const target of targets) {
      const url = `http://redirects.example:${redirecting.port}/?to=${encodeURIComponent(target)}`;
      const error = await guardFailure(url);
      expect(error, target).toBeInstanceOf(EgressFailure);
      expect((error as EgressFailure).code, target).toMatch(/^(FORBIDDEN|NOT_FOUND|REFUSED)$/);
    }
    expect(redirecting.hits.length).toBeGreaterThanOrEqual(targets.length);
  });

  test('asks DNS once a hop, so that an answer which changes leads nowhere', async () => {
    let asked = 0;
    const changing = async () => {
      asked += 1;
      return asked % 2 === 1 ? ['93.184.215.14'] : ['127.0.0.1'];
    };
    const url = `http://rebinding.example:${canary.port}/`;
    const signal = AbortSignal.timeout(200);
    const request = { url, what: 'video', allow: [], idleTimeoutMs: 200, signal, resolve: changing };
    await expect(guardedRequest(request)).rejects.toThrow();
    expect(asked).toBe(1);
    expect(await guardFailure(url, changing)).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('the proxy', () => {
  test.each(forbiddenAuthorities)('passes no request on to %s', async (authority) => {
    const target = withPort(authority, canary.port);
    expectRefused(await rawExchange(`GET http://${target}/inner`));
    expectRefused(await rawExchange(`POST http://${target}/inner`));
  });

  test.each(forbiddenAuthorities)('opens no tunnel to %s', async (authority) => {
    expectRefused(await rawExchange(`CONNECT ${withPort(authority, canary.port)}`));
  });

  test.each(forbiddenUrls)('passes no request for %j on', async (url) => {
    expectRefused(await rawExchange(`GET ${withPort(url, canary.port)}`));
    expectRefused(await rawExchange(`CONNECT ${withPort(url, canary.port)}`));
  });

  test('does not act as a server of its own, nor for a path', async () => {
    expectRefused(await rawExchange('GET /etc/passwd'));
    expectRefused(await rawExchange(`OPTIONS *`));
    expectRefused(await rawExchange(`GET https://127.0.0.1:${canary.port}/`));
  });

  test('checks each hop of a redirect anew', async () => {
    for (const authority of authorities()) {
      const target = `http://${authority}/inner`;
      const first = await rawExchange(
        `GET http://redirects.example:${redirecting.port}/?to=${encodeURIComponent(target)}`,
      );
      expect(first).toMatch(/^HTTP\/1\.1 302 /);
      const location = /^location: (.*)\r$/m.exec(first)?.[1] ?? '';
      expect(location).not.toBe('');
      expectRefused(await rawExchange(`GET ${location}`));
    }
  });

  test('connects to the address that it checked, also when DNS answers differently the next moment', async () => {
    let asked = 0;
    const changing = async () => {
      asked += 1;
      return asked % 2 === 1 ? ['93.184.215.14'] : ['127.0.0.1'];
    };
    const rebound = await startEgressProxy({ allow: [], resolve: changing });
    const limits = { maxConnections: 8, maxBytes: 1_000, idleMs: 200, wallMs: 300 };
    const own = rebound.openSession(limits);
    const socket = connect(rebound.port, '127.0.0.1');
    const { username, password } = new URL(own.proxyUrl);
    const credential = Buffer.from(`${username}:${password}`).toString('base64');
    socket.on('error', () => undefined);
    socket.write(
      `CONNECT rebinding.example:${canary.port} HTTP/1.1\r\nProxy-Authorization: Basic ${credential}\r\n\r\n`,
    );
    socket.resume();
    await once(socket, 'close');
    expect(asked).toBe(1);
    await rebound.close();
  });
});
