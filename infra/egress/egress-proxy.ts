import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { forward } from './proxy-forward.ts';
import { ProxyRefusal, proxyRefusals, refusalHeader } from './proxy-refusal.ts';
import { type ProxyLimits, ProxySession, type RefusedTarget } from './proxy-session.ts';
import { namedHost, type ProxyGuard } from './proxy-target.ts';
import { openTunnel, tunnelUrl } from './proxy-tunnel.ts';

/** One program's way out, closed by whoever opened it. */
export type EgressSession = {
  /** `http://user:password@127.0.0.1:port`: a secret, for the program's environment and never for a log. */
  readonly proxyUrl: string;
  /** Bytes moved so far, both ways. */
  readonly bytes: number;
  /** What was not passed on, the first twenty. */
  readonly refused: readonly RefusedTarget[];
  /** The limit that ended the session, if one did. */
  readonly endedBy: RefusedTarget['code'] | undefined;
  /** Ends the session and every connection it has open. */
  close(): void;
};

export type EgressProxy = {
  readonly port: number;
  openSession(limits: ProxyLimits): EgressSession;
  close(): Promise<void>;
};

const maxHeaderBytes = 64 * 1024;
const maxClientConnections = 1024;

/**
 * Starts the one way out for programs that fetch but are not ours: a forward proxy on loopback that passes on
 * only what the egress guard allows, redirects and changed DNS answers included, since each request is
 * checked and goes to the address that was checked. Nobody gets through without the credential of an open session.
 */
export async function startEgressProxy(guard: ProxyGuard): Promise<EgressProxy> {
  const sessions = new Map<string, ProxySession>();
  const server = createServer({ maxHeaderSize: maxHeaderBytes });
  server.maxConnections = maxClientConnections;
  answerRequests(server, guard, sessions);
  answerTunnels(server, guard, sessions);
  server.on('clientError', (_error, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    openSession: (limits) => openSession(sessions, limits, port),
    close: async () => {
      for (const session of sessions.values()) session.end();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function openSession(sessions: Map<string, ProxySession>, limits: ProxyLimits, port: number): EgressSession {
  const session = new ProxySession(limits);
  sessions.set(session.id, session);
  return {
    proxyUrl: `http://${session.credential}@127.0.0.1:${port}`,
    get bytes() {
      return session.bytes;
    },
    get refused() {
      return session.refused;
    },
    get endedBy() {
      return session.endedBy;
    },
    close: () => {
      sessions.delete(session.id);
      session.end();
    },
  };
}

function answerRequests(server: Server, guard: ProxyGuard, sessions: Map<string, ProxySession>): void {
  server.on('request', (request, response) => {
    const session = sessionOf(sessions, request);
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    void Promise.resolve()
      .then(() => forward({ guard, session: admitted(session), request, response }))
      .catch((error: unknown) => {
        const refusal = asRefusal(error);
        session?.noteRefusal({ host: namedHost(request.url ?? ''), code: refusal.code });
        if (response.headersSent) return void response.destroy();
        response.writeHead(proxyRefusals[refusal.code].status, refusalHeaders(refusal)).end(refusal.message);
      });
  });
}

function answerTunnels(server: Server, guard: ProxyGuard, sessions: Map<string, ProxySession>): void {
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    const session = sessionOf(sessions, request);
    client.on('error', () => undefined);
    void Promise.resolve()
      .then(() => openTunnel({ guard, session: admitted(session), request, client, head }))
      .catch((error: unknown) => {
        const refusal = asRefusal(error);
        session?.noteRefusal({ host: namedHost(tunnelUrl(request.url)), code: refusal.code });
        client.end(refusalText(refusal));
      });
  });
}

function sessionOf(
  sessions: ReadonlyMap<string, ProxySession>,
  request: IncomingMessage,
): ProxySession | undefined {
  const [, encoded] = /^Basic ([\w+/=-]{1,256})$/i.exec(request.headers['proxy-authorization'] ?? '') ?? [];
  const given = Buffer.from(encoded ?? '', 'base64').toString('latin1');
  const session = sessions.get(given.split(':')[0] ?? '');
  return session?.isCredential(given) === true ? session : undefined;
}

function admitted(session: ProxySession | undefined): ProxySession {
  if (session === undefined) throw new ProxyRefusal('UNAUTHENTICATED');
  session.admit();
  return session;
}

function asRefusal(error: unknown): ProxyRefusal {
  return error instanceof ProxyRefusal ? error : new ProxyRefusal('UNREACHABLE', error);
}

function refusalHeaders(refusal: ProxyRefusal): Record<string, string> {
  const headers = { 'content-type': 'text/plain', connection: 'close', [refusalHeader]: refusal.code };
  return refusal.code === 'UNAUTHENTICATED'
    ? { ...headers, 'proxy-authenticate': 'Basic realm="egress"' }
    : headers;
}

function refusalText(refusal: ProxyRefusal): string {
  const { status, reason } = proxyRefusals[refusal.code];
  const headers = Object.entries(refusalHeaders(refusal)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Refused\r\n${headers.join('')}content-length: ${reason.length}\r\n\r\n${reason}`;
}
