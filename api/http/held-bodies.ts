import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answers } from './answers.ts';

/**
 * Clients that ask with `Expect: 100-continue` whether their body is wanted. Node says yes to all of them; here
 * they hear yes only once the checks that need no body have let the request in.
 */

const held = new WeakMap<IncomingMessage, ServerResponse>();

/** Requests of `server` that ask are handled without an answer to that; other expectations are refused. */
export function holdBodies(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    held.set(request, response);
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { status, body } = answers.unknownExpectation;
    const text = JSON.stringify(body);
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      connection: 'close',
    });
    response.end(text);
  });
}

/** The client may send its body now. */
export function letBodyCome({ raw }: FastifyRequest): void {
  held.get(raw)?.writeContinue();
  held.delete(raw);
}

/** Whether the client still waits to hear that its body is wanted. */
export const isBodyHeld = ({ raw }: FastifyRequest): boolean => held.has(raw);

/** A body that was never wanted may come all the same: nothing after it could be read as a request. */
export function closeBehindHeldBody(request: FastifyRequest, reply: FastifyReply): void {
  if (isBodyHeld(request)) reply.header('connection', 'close');
}
