import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

const KEEP_ALIVE_MS = 15_000;

/**
 * Sockets to brokers. Nagle's algorithm is off: a transaction is seven small requests in a row, and each
 * would wait for the acknowledgement of the one before.
 */
export function socketFactory(
  routeTo: (broker: { host: string; port: number }) => { host: string; port: number } = (broker) => broker,
): ISocketFactory {
  return ({ host, port, ssl, onConnect }) => {
    const address = routeTo({ host, port });
    const socket = ssl
      ? connectTls({ ...address, ...(isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
      : connectTcp(address, onConnect);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    return socket;
  };
}
