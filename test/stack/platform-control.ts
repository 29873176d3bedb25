import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { PlatformBackEnd, PlatformDescription, PlatformPart } from './platform.ts';

const parts: readonly PlatformPart[] = ['kafka', 'postgres', 's3'];
/** The longest is building the service's image with nothing cached on a busy machine. */
const requestLimitMs = 600_000;

export type PlatformControl = { readonly url: string; close(): void };

/**
 * Lets test files kill and start the servers, and have the service's image built: these belong to the process that started them, and tests
 * run in others. Loopback only, behind a random path.
 */
export async function servePlatformControl(platform: PlatformBackEnd): Promise<PlatformControl> {
  const secret = randomBytes(16).toString('hex');
  const server = createServer((request, response) => {
    const [, given, action = '', name] = (request.url ?? '').split('/');
    const done = given === secret ? perform(platform, action, name) : undefined;
    if (done === undefined) {
      response.writeHead(404).end('There is no such thing to do.');
      return;
    }
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

function perform(platform: PlatformBackEnd, action: string, name = ''): Promise<void> | undefined {
  if (action === 'service-image') return platform.provideServiceImage();
  const part = parts.find((known) => known === name);
  if (part === undefined) return undefined;
  return action === 'kill' ? platform.kill(part) : platform.start(part);
}

/** Makes sure that the service's image is there: built from the checkout, once in a run. */
export function provideServiceImage(platform: PlatformDescription): Promise<void> {
  return ask(`${platform.controlUrl}/service-image`);
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
