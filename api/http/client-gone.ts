import type { FastifyReply } from 'fastify';

/** Aborts when the client went away before it had its answer: then nobody waits for what is being looked up. */
export function clientGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}
