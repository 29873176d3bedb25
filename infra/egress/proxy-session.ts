import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Counter } from 'prom-client';
import { metrics } from '../metrics.ts';
import { ProxyRefusal, type ProxyRefusalCode } from './proxy-refusal.ts';

export type ProxyLimits = {
  /** Open at the same time. */
  readonly maxConnections: number;
  /** Moved over the session's whole life, both ways. */
  readonly maxBytes: number;
  /** The longest silence on a connection. */
  readonly idleMs: number;
  /** The session's whole life. */
  readonly wallMs: number;
};

/** Something was not passed on: to which host, and why. */
export type RefusedTarget = { readonly host: string; readonly code: ProxyRefusalCode };

/** What can be ended: sockets, requests and answers alike. */
export type Connection = { destroy(): unknown };

const keptRefusals = 20;

const requestsTotal = new Counter({
  name: 'clipledger_egress_proxy_requests_total',
  help: 'Requests and tunnels that foreign programs asked of the egress proxy, by outcome.',
  labelNames: ['outcome'],
  registers: [metrics],
});
const bytesTotal = new Counter({
  name: 'clipledger_egress_proxy_bytes_total',
  help: 'Bytes that the egress proxy has moved, both ways.',
  registers: [metrics],
});

/**
 * One program's leave to use the egress proxy: its credential, its limits and what became of its requests.
 * Ending it ends every connection that it has open.
 */
export class ProxySession {
  readonly id: string = randomBytes(9).toString('hex');
  readonly limits: ProxyLimits;
  readonly #secret: string = randomBytes(24).toString('hex');
  readonly #ended = new AbortController();
  readonly #connections = new Set<Connection>();
  readonly #refused: RefusedTarget[] = [];
  readonly #clock: NodeJS.Timeout;
  #endedBy: ProxyRefusalCode | undefined;
  #bytes = 0;

  constructor(limits: ProxyLimits) {
    this.limits = limits;
    this.#clock = setTimeout(() => this.end('TIME_LIMIT'), limits.wallMs).unref();
  }

  /** `user:password`, as it stands in a proxy's URL. */
  get credential(): string {
    return `${this.id}:${this.#secret}`;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The first refusals, in order. */
  get refused(): readonly RefusedTarget[] {
    return this.#refused;
  }

  /** The limit that ended the session before its owner did. */
  get endedBy(): ProxyRefusalCode | undefined {
    return this.#endedBy;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Compared as digests, so that the time tells nothing. */
  isCredential(given: string): boolean {
    const digest = (text: string) => createHash('sha256').update(text).digest();
    return timingSafeEqual(digest(given), digest(this.credential));
  }

  /** Throws the refusal of a request that comes when the session is over or full. */
  admit(): void {
    if (this.signal.aborted) throw new ProxyRefusal(this.#endedBy ?? 'TIME_LIMIT');
    if (this.#connections.size >= this.limits.maxConnections) throw new ProxyRefusal('TOO_MANY_CONNECTIONS');
  }

  /** Takes a connection into the count until `close` is called; ends it with the session. */
  hold(connection: Connection): () => void {
    this.#connections.add(connection);
    requestsTotal.inc({ outcome: 'PASSED' });
    return () => this.#connections.delete(connection);
  }

  countBytes(bytes: number): void {
    this.#bytes += bytes;
    bytesTotal.inc(bytes);
    if (this.#bytes > this.limits.maxBytes) this.end('TOO_MANY_BYTES');
  }

  noteRefusal(refused: RefusedTarget): void {
    requestsTotal.inc({ outcome: refused.code });
    if (this.#refused.length < keptRefusals) this.#refused.push(refused);
  }

  /** Ends all connections; later requests are refused. */
  end(by?: ProxyRefusalCode): void {
    if (this.signal.aborted) return;
    this.#endedBy = by;
    clearTimeout(this.#clock);
    this.#ended.abort();
    for (const connection of this.#connections) connection.destroy();
    this.#connections.clear();
  }
}
