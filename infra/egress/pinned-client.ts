import { isIP, type LookupFunction } from 'node:net';
import { Client } from 'undici';
import type { CheckedTarget } from './checked-address.ts';

const connectTimeoutMs = 10_000;
const maxHeaderBytes = 16 * 1024;

/**
 * A client for one host that connects to the very address that was checked, whatever the name resolves to by
 * now. Redirects are not followed. Whoever opens it must destroy it.
 */
export function pinnedClient({ url, address }: CheckedTarget, idleTimeoutMs: number): Client {
  return new Client(url.origin, {
    connect: { lookup: pinned(address), timeout: connectTimeoutMs },
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    pipelining: 1,
  });
}

function pinned(address: string): LookupFunction {
  const family = isIP(address);
  return (_hostname, options, callback) => {
    if (options.all === true) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
}
