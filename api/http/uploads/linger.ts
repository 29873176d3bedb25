import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isBodyHeld } from '../held-bodies.ts';
import { isForm } from './is-form.ts';

/** How much of a body that is refused is still read, and for how long, before the connection is closed. */
const LINGER_MS = 10_000;
const LINGER_BYTES = 64 * 1024 * 1024;

/**
 * Sends an answer to a client that is still sending its form. Closing at once would reset the connection, and
 * the client would lose the answer with it: so the answer goes out whole, then some more of the body is read.
 */
export function lingerOverForm(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  const { raw } = request;
  // A client that still waits to be asked for its form sends nothing that could be cut off.
  if (!isForm(request) || raw.complete || isBodyHeld(request) || typeof payload !== 'string') return payload;
  reply.header('connection', 'close');
  reply.header('content-length', Buffer.byteLength(payload));
  return Readable.from(
    (async function* () {
      yield payload;
      await drained(raw);
    })(),
    { objectMode: false },
  );
}

/** Resolves when the body is over or gone, or the limits are reached. */
function drained(raw: IncomingMessage): Promise<void> {
  if (raw.readableEnded || raw.destroyed) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) resolve();
  };
  const limit = setTimeout(resolve, LINGER_MS);
  raw.on('data', count).once('end', resolve).once('close', resolve).once('error', resolve);
  raw.resume();
  return promise.finally(() => {
    clearTimeout(limit);
    raw.off('data', count).off('end', resolve).off('close', resolve).off('error', resolve);
  });
}
