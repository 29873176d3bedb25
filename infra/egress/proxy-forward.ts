import { once } from 'node:events';
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream';
import type { CheckedTarget } from './checked-address.ts';
import { ProxyRefusal } from './proxy-refusal.ts';
import type { ProxySession } from './proxy-session.ts';
import { checkProxyTarget, type ProxyGuard } from './proxy-target.ts';

export type ForwardRequest = {
  readonly guard: ProxyGuard;
  readonly session: ProxySession;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
};

const maxHeaderBytes = 64 * 1024;

/** Headers that belong to one connection and are never passed on. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Answers a request for an `http://` URL: passes it to the checked address and the answer back, redirects
 * included (the program must ask again for the next hop, and that is checked again). Throws `ProxyRefusal`
 * as long as nothing was answered.
 */
export async function forward(exchange: ForwardRequest): Promise<void> {
  const { session, request, response } = exchange;
  const target = await checkProxyTarget(exchange.guard, session, plainUrl(request.url));
  session.admit();
  const upstream = ask(target, request, session);
  const release = session.hold(upstream);
  upstream.once('close', release);
  response.once('close', () => upstream.destroy());
  request.on('data', (piece: Buffer) => session.countBytes(piece.length));
  request.pipe(upstream);
  const answer = await answerOf(upstream);
  answer.on('data', (piece: Buffer) => session.countBytes(piece.length));
  response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
  // An answer that breaks off must break off for the program too: destroying is not ending.
  pipeline(answer, response, (error) => {
    if (error) response.destroy();
  });
}

function plainUrl(url: string | undefined): string {
  if (url === undefined || !/^http:\/\//i.test(url)) throw new ProxyRefusal('BAD_REQUEST');
  return url;
}

function ask(target: CheckedTarget, request: IncomingMessage, session: ProxySession): ClientRequest {
  const { url, address } = target;
  const upstream = httpRequest({
    host: address,
    port: url.port === '' ? 80 : url.port,
    path: url.pathname + url.search,
    method: request.method ?? 'GET',
    headers: { ...endToEnd(request.headers), host: url.host },
    agent: false,
    maxHeaderSize: maxHeaderBytes,
    timeout: session.limits.idleMs,
  });
  upstream.once('timeout', () => upstream.destroy(new ProxyRefusal('TIME_LIMIT')));
  return upstream;
}

async function answerOf(upstream: ClientRequest): Promise<IncomingMessage> {
  try {
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
    // From here on the answer's own stream tells what happens to the connection.
    upstream.on('error', () => undefined);
    return answer;
  } catch (error) {
    throw error instanceof ProxyRefusal ? error : new ProxyRefusal('UNREACHABLE', error);
  }
}

function endToEnd(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const named = (headers.connection ?? '').toLowerCase().split(/\s*,\s*/);
  const kept = Object.entries(headers).filter(([name]) => !hopByHop.has(name) && !named.includes(name));
  return Object.fromEntries(kept);
}
