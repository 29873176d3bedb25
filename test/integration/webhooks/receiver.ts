import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import type { PlatformDescription } from '#test/stack/platform.ts';

/** One webhook as it came in. */
export type Received = Readonly<{
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  message: Readonly<{ type: string; timestamp: string; data: Record<string, unknown> }>;
}>;

export type Answering = (response: ServerResponse, received: Received) => void | Promise<void>;

/**
 * A client's endpoint: keeps what was posted to it, and answers each path as it is told, else 204. It has no
 * videos: whoever gets something is told 404.
 */
export class Receiver {
  readonly received: Received[] = [];
  readonly #answers = new Map<string, Answering>();
  readonly #host: string;
  readonly #server = createServer((request, response) => {
    if (request.method === 'POST') this.#receive(request, response).catch(() => response.destroy());
    else response.writeHead(404).end();
  });

  private constructor(host: string) {
    this.#host = host;
  }

  /** Where processes of this machine reach it, or the service's containers if there are such. */
  static async start(containers: PlatformDescription['containers'] = null): Promise<Receiver> {
    const receiver = new Receiver(containers?.hostName ?? '127.0.0.1');
    receiver.#server.listen(0, containers?.hostAddress ?? '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  /** `host:port`, as in EGRESS_ALLOW. */
  get authority(): string {
    return `${this.#host}:${(this.#server.address() as AddressInfo).port}`;
  }

  url(path: string): string {
    return `http://${this.authority}${path}`;
  }

  /** How `path` (with its query string) is answered from now on. */
  answer(path: string, answering: Answering): void {
    this.#answers.set(path, answering);
  }

  at(path: string): readonly Received[] {
    return this.received.filter((received) => received.path === path);
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(request)).toString('utf8');
    const headers = request.headers as Record<string, string>;
    const received = { path: request.url ?? '', headers, body, message: JSON.parse(body) };
    this.received.push(received);
    const answering = this.#answers.get(received.path);
    if (answering === undefined) response.writeHead(204).end();
    else await answering(response, received);
  }
}

/** Whether a receiver that has `secret` (`whsec_…`) takes the message for genuine and new. */
export function isGenuine({ body, headers }: Received, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, { ...headers });
    return true;
  } catch {
    return false;
  }
}
