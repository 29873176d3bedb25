import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/**
 * Each request of `server` has to arrive within `limitMs`, unless who reads it keeps a time limit of its own.
 * Node's own `requestTimeout` cannot be lifted for single requests, which uploads of gigabytes need; it must
 * be off, or it would still count.
 */
export function limitRequests(server: Server, limitMs: number): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const hasBody =
      'transfer-encoding' in request.headers || Number(request.headers['content-length'] ?? 0) > 0;
    if (!hasBody) return;
    const timer = setTimeout(() => giveUp(server, request, response), limitMs);
    timers.set(request, timer);
    const clear = () => liftDeadline(request);
    request.once('end', clear).once('close', clear);
  });
}

/** The request may take as long as its reader lets it. */
export function liftDeadline(request: IncomingMessage): void {
  clearTimeout(timers.get(request));
  timers.delete(request);
}

/** Like Node's own time-out: the server answers on the socket, as nobody else can any more. */
function giveUp(server: Server, request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) {
    request.socket.destroy();
    return;
  }
  const error = Object.assign(new Error('The request took too long.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  server.emit('clientError', error, request.socket);
}
