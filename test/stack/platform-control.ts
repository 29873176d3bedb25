import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { PlatformBackEnd, PlatformDescription, PlatformPart } from './platform.ts';

const parts: readonly PlatformPart[] = ['kafka', 'postgres', 's3'];
/** Building images takes minutes: whoever waits for them is told so in time, and asks again. */
const answerWithinMs = 20_000;
/** The longest is starting a server again on a busy machine. */
const requestLimitMs = 200_000;

export type PlatformControl = { readonly url: string; close(): void };

/** What is known of a run before its servers are there. */
export type RunIdentity = Pick<PlatformDescription, 'runId' | 'runFolder'>;

export type ControlledPlatform = {
  /** It may still be starting. */
  readonly platform: Promise<PlatformBackEnd>;
  readonly run: RunIdentity;
  /** Begins one more platform and gives the address of its control. */
  readonly beginAnother: () => Promise<string>;
};

type Answer = { readonly status: 200 | 202 | 404 | 500; readonly body: string };

/**
 * Lets test files wait for the servers, kill and start them, and have the service's image built: all these
 * belong to the process that started them, and tests run in others. Loopback only, behind a random path.
 */
export async function servePlatformControl({
  platform,
  run,
  beginAnother,
}: ControlledPlatform): Promise<PlatformControl> {
  const secret = randomBytes(16).toString('hex');
  const server = createServer((request, response) => {
    const [, given, action = '', name] = (request.url ?? '').split('/');
    const answer = given === secret ? perform(action, name) : notFound;
    void answer.then(({ status, body }) => response.writeHead(status).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const controlUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${secret}`;
  // Not what keeps the run alive.
  server.unref();

  function perform(action: string, name: string | undefined): Promise<Answer> {
    const part = parts.find((known) => known === name);
    switch (action) {
      case 'description':
        return soon(platform.then((started) => describe(started, run, controlUrl)));
      case 'another':
        return outcomeOf(beginAnother());
      case 'service-image':
        return soon(platform.then((started) => started.provideServiceImage()));
      case 'kill':
      case 'start':
        return part === undefined ? notFound : outcomeOf(platform.then((started) => started[action](part)));
      default:
        return notFound;
    }
  }

  return {
    url: controlUrl,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const notFound: Promise<Answer> = Promise.resolve({ status: 404, body: 'There is no such thing to do.' });

function describe(
  { backEnd, servers, containers }: PlatformBackEnd,
  run: RunIdentity,
  controlUrl: string,
): PlatformDescription {
  return { backEnd, ...run, servers, containers, controlUrl };
}

function outcomeOf(work: Promise<unknown>): Promise<Answer> {
  return work.then(
    (result) => ({ status: 200, body: JSON.stringify(result ?? null) }),
    (error: unknown) => ({ status: 500, body: String(error) }),
  );
}

/** 202 for what is still under way; only for work that does no harm when it is asked for again. */
function soon(work: Promise<unknown>): Promise<Answer> {
  const underWay: Answer = { status: 202, body: '' };
  return Promise.race([outcomeOf(work), delay(answerWithinMs, underWay, { ref: false })]);
}

/** Waits until the platform of `controlUrl` serves, for as long as that takes, and describes it. */
export async function describePlatform(controlUrl: string): Promise<PlatformDescription> {
  return (await ask(`${controlUrl}/description`)) as PlatformDescription;
}

/** Begins one more platform of the same kind, and gives its address; it ends with the run. */
export async function beginAnotherPlatform(controlUrl: string): Promise<string> {
  return (await ask(`${controlUrl}/another`)) as string;
}

/** Makes sure that the service's image is there: built from the checkout, once in a run. */
export async function provideServiceImage(platform: PlatformDescription): Promise<void> {
  await ask(`${platform.controlUrl}/service-image`);
}

/** kill -9 of one of the platform's servers; its data stay. */
export async function killPart(platform: PlatformDescription, part: PlatformPart): Promise<void> {
  await ask(`${platform.controlUrl}/kill/${part}`);
}

/** Starts a killed server again under its old address; resolves when it serves. */
export async function startPart(platform: PlatformDescription, part: PlatformPart): Promise<void> {
  await ask(`${platform.controlUrl}/start/${part}`);
}

async function ask(url: string): Promise<unknown> {
  for (;;) {
    const response = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(requestLimitMs) });
    const body = await response.text();
    if (response.status === 200) return JSON.parse(body);
    if (response.status !== 202) throw new Error(`The platform refused: ${body}`);
  }
}
