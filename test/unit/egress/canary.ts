import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A server that nobody may reach: it counts connections, not only requests. */
export type Canary = {
  readonly port: number;
  readonly hits: readonly string[];
  readonly connections: () => number;
  close(): Promise<void>;
};

/** Listens on every address of this machine, IPv4 and IPv6, so that each spelling of loopback leads here. */
export async function startCanary(answer?: RequestListener): Promise<Canary> {
  const hits: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`);
    if (answer === undefined) response.end('canary');
    else answer(request, response);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '::');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    hits,
    connections: () => connections,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
