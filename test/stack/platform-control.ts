import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { PlatformBackEnd, PlatformDescription, PlatformPart } from './platform.ts';

const parts: readonly PlatformPart[] = ['kafka', 'postgres', 's3'];
const requestLimitMs = 150_000;

export type PlatformControl = { readonly url: string; close(): void };

/**
 * Lets test files kill and start the servers: these belong to the process that started them, and tests
 * run in others. Loopback only, behind a random path.
 */
export async function servePlatformControl(platform: PlatformBackEnd): Promise<PlatformControl> {
  const secret = randomBytes(16).toString('hex');
  const server = createServer((request, response) => {
    const [, given, action, name] = (request.url ?? '').split('/');
    const part = parts.find((known) => known === name);
    if (request.method !== 'POST' || given !== secret || part === undefined) {
      response.writeHead(404).end();
      return;
    }
    const done = action === 'kill' ? platform.kill(part) : platform.start(part);
    done.then(
      () => response.writeHead(204).end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  // Not what keeps the run alive.
  server.unref();
  return {
    url: `http://127.0.0.1:${port}/${secret}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** kill -9 of one of the platform's servers; its data stay. */
export function killPart(platform: PlatformDescription, part: PlatformPart): Promise<void> {
  return ask(`${platform.controlUrl}/kill/${part}`);
}

/** Starts a killed server again under its old address; resolves when it serves. */
export function startPart(platform: PlatformDescription, part: PlatformPart): Promise<void> {
  return ask(`${platform.controlUrl}/start/${part}`);
}

async function ask(url: string): Promise<void> {
  const response = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(requestLimitMs) });
  if (!response.ok) throw new Error(`The platform refused: ${await response.text()}`);
}
