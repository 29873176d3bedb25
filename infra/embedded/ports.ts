import { randomInt } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** The ports of one data folder's servers, all on 127.0.0.1. */
export type StackPorts = {
  readonly kafka: number;
  readonly kafkaController: number;
  readonly postgres: number;
  readonly s3: number;
};

export type PortName = keyof StackPorts;

const portNames: readonly PortName[] = ['kafka', 'kafkaController', 'postgres', 's3'];

/** Below the ephemeral ranges of Linux (32768…) and macOS (49152…), so that no outgoing connection takes one. */
const lowestPort = 15_000;
const highestPort = 32_000;
const maximumTries = 200;

/**
 * The ports of `dataDir`: those it had before where they are still free, else new free ones, kept in
 * `ports.json` for the next start. Only the `needed` ones are looked at.
 */
export async function choosePorts(dataDir: string, needed: readonly PortName[]): Promise<StackPorts> {
  const file = join(dataDir, 'ports.json');
  const remembered = parsePorts(await readFile(file, 'utf8').catch(() => ''));
  const chosen: Record<PortName, number> = {
    kafka: 0,
    kafkaController: 0,
    postgres: 0,
    s3: 0,
    ...remembered,
  };
  for (const name of needed) {
    if (chosen[name] !== 0 && (await isPortFree(chosen[name]))) continue;
    chosen[name] = await findFreePort(Object.values(chosen));
  }
  // Written beside and renamed: a crash in between must not leave half a file.
  await writeFile(`${file}.new`, `${JSON.stringify(chosen, null, 2)}\n`);
  await rename(`${file}.new`, file);
  return chosen;
}

/** What `ports.json` says; anything that is not a usable port is left out and chosen anew. */
export function parsePorts(text: string): Partial<StackPorts> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return {};
  }
  if (typeof parsed !== 'object' || parsed === null) return {};
  const usable = Object.entries(parsed).filter(
    ([name, port]) =>
      portNames.some((known) => known === name) && Number.isInteger(port) && port > 0 && port < 65_536,
  );
  return Object.fromEntries(usable);
}

/** Whether a server can listen on `port` now. */
export function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}

/** A free port on 127.0.0.1 that is none of `taken`. */
export async function findFreePort(taken: readonly number[] = []): Promise<number> {
  for (let tries = 0; tries < maximumTries; tries++) {
    const port = randomInt(lowestPort, highestPort);
    if (!taken.includes(port) && (await isPortFree(port))) return port;
  }
  throw new Error(`No free port found between ${lowestPort} and ${highestPort} on 127.0.0.1.`);
}
