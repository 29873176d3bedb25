import { connect, createServer, type Socket } from 'node:net';

/** `pass` forwards, `refuse` closes every connection at once, `hang` accepts and never answers. */
export type ProxyMode = 'pass' | 'refuse' | 'hang';

export type TcpProxy = Readonly<{
  port: number;
  /** Changes what happens to all connections; those that are open are cut, or frozen by `hang`. */
  become: (mode: ProxyMode) => void;
  close: () => Promise<void>;
}>;

/** Stands in front of a server, so that a test can take it away and give it back. */
export async function openTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  let mode: ProxyMode = 'pass';
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    if (mode === 'refuse') {
      client.destroy();
      return;
    }
    const upstream = connect(target);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.on('data', (bytes) => {
        if (mode === 'pass') to.write(bytes);
      });
      from.on('error', () => from.destroy());
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    port: address.port,
    become: (next) => {
      // Bytes that were swallowed while hanging are lost, so those connections cannot go on.
      if (next === 'refuse' || mode === 'hang') cut();
      mode = next;
    },
    close: async () => {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
