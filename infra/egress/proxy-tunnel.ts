import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ProxyRefusal } from './proxy-refusal.ts';
import type { ProxySession } from './proxy-session.ts';
import { checkProxyTarget, connectTimeoutMs, type ProxyGuard } from './proxy-target.ts';

export type TunnelRequest = {
  readonly guard: ProxyGuard;
  readonly session: ProxySession;
  readonly request: IncomingMessage;
  /** The program's side. */
  readonly client: Duplex;
  /** What it sent right behind its request. */
  readonly head: Buffer;
};

/**
 * Answers CONNECT: joins the program's socket to the checked address and moves bytes both ways until either
 * side ends, is silent for too long, or the session is over. Throws `ProxyRefusal` before anything is joined.
 */
export async function openTunnel(tunnel: TunnelRequest): Promise<void> {
  const { session, client } = tunnel;
  const { url, address } = await checkProxyTarget(tunnel.guard, session, tunnelUrl(tunnel.request.url));
  session.admit();
  const upstream = connect({ host: address, port: url.port === '' ? 443 : Number(url.port) });
  const release = session.hold(upstream);
  upstream.once('close', release);
  await connected(upstream);
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  join(session, client, upstream);
  if (tunnel.head.length > 0) upstream.write(tunnel.head);
}

/** An authority has the form `host:port`; read as a URL, all spellings of an address become one. */
export function tunnelUrl(authority: string | undefined): string {
  return `https://${authority ?? ''}`;
}

async function connected(upstream: Socket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = setTimeout(() => upstream.destroy(new ProxyRefusal('TIME_LIMIT')), connectTimeoutMs);
  upstream.once('connect', resolve);
  upstream.once('error', reject);
  upstream.once('close', () => reject(new ProxyRefusal('TIME_LIMIT')));
  try {
    await promise;
  } catch (error) {
    throw error instanceof ProxyRefusal ? error : new ProxyRefusal('UNREACHABLE', error);
  } finally {
    clearTimeout(late);
  }
}

function join(session: ProxySession, client: Duplex, upstream: Socket): void {
  const end = () => {
    client.destroy();
    upstream.destroy();
  };
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.on('error', end);
    // After an orderly end the pipe ends the other side once its last bytes are out.
    from.once('close', () => from.readableEnded || end());
    from.on('data', (piece: Buffer) => session.countBytes(piece.length));
    from.pipe(to);
  }
  upstream.setTimeout(session.limits.idleMs, end);
}
