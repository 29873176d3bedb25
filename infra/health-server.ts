import { createServer, type Server } from 'node:http';
import { metrics } from './metrics.ts';

/** What `/health/ready` answers: ready, or the sentences that say what is missing. */
export type Readiness = Readonly<{ ready: boolean; reasons: readonly string[] }>;

/** A listening health server; `port` is the one it got. */
export type HealthServer = Readonly<{ port: number; close: () => Promise<void> }>;

/**
 * Serves `/health/live`, `/health/ready` and `/metrics` on `host:port` (port 0 takes a free one) for a
 * process that has no HTTP interface of its own. Rejects when the port is taken.
 */
export async function startHealthServer(options: {
  readonly host: string;
  readonly port: number;
  readonly readiness: () => Readiness;
}): Promise<HealthServer> {
  const server = createServer((request, response) => {
    void answer(request.url ?? '/', options.readiness).then(({ status, type, body }) => {
      response.writeHead(status, { 'content-type': type }).end(body);
    });
  });
  const port = await listen(server, options.host, options.port);
  return { port, close: () => close(server) };
}

type Answer = Readonly<{ status: number; type: string; body: string }>;

async function answer(url: string, readiness: () => Readiness): Promise<Answer> {
  switch (url.replace(/\?.*$/, '')) {
    case '/health/live':
      return json(200, { status: 'live' });
    case '/health/ready': {
      const { ready, reasons } = readiness();
      return json(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', reasons });
    }
    case '/metrics':
      return { status: 200, type: metrics.contentType, body: await metrics.metrics() };
    default:
      return json(404, { error: 'Here are /health/live, /health/ready and /metrics.' });
  }
}

const json = (status: number, body: unknown): Answer => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(body),
});

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
