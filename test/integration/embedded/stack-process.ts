import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { parseConfig } from '#infra/config.ts';
import { isAlive } from '#infra/embedded/process-table.ts';
import {
  addressEnvironment,
  type EmbeddedAddresses,
  findRunningStack,
} from '#infra/embedded/running-stack.ts';
import { openAppender } from '#infra/kafka/appender.ts';
import { connectKafka } from '#infra/kafka/connection.ts';
import { readLog } from '#infra/kafka/log-reader.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { childEnvironment } from '#test/stack/child-environment.ts';
import { until } from '#test/stack/poll.ts';

const program = fileURLToPath(new URL('../../../infra/start/main.ts', import.meta.url));
const startLimitMs = 90_000;

/** `npm start -- stack` as a process of its own, so that it can be killed. */
export type StackProcess = {
  readonly pid: number;
  readonly addresses: EmbeddedAddresses;
  /** What it said on stderr so far. */
  said(): string;
  /** Ends it as Ctrl-C does; resolves with its exit code. */
  interrupt(): Promise<number | null>;
  /** kill -9, of its guardian too if wished; resolves when it is gone. */
  kill(also?: 'guardian'): Promise<void>;
};

/** Starts the stack on `dataDir` and waits for its ready line; rejects with what it said when it ends before. */
export async function startStackProcess(dataDir: string): Promise<StackProcess> {
  const child = spawn(process.execPath, [program, 'stack'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Nothing of the suite's own platform: each part is to be embedded.
    env: { ...childEnvironment, DATA_DIR: dataDir },
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`The stack ended with code ${child.exitCode}: ${said}`);
  });
  const ready = once(createInterface({ input: child.stdout }), 'line', {
    signal: AbortSignal.timeout(startLimitMs),
  });
  await Promise.race([ready, ended]);
  ended.catch(() => undefined);
  const addresses = await findRunningStack(dataDir);
  if (addresses === undefined)
    throw new Error(`The stack is ready, but ${dataDir} does not say where: ${said}`);
  return {
    pid: child.pid ?? 0,
    addresses,
    said: () => said,
    interrupt: () => signalAndWait(child, 'SIGINT'),
    async kill(also) {
      const guardian = also === 'guardian' ? await guardianOf(child.pid ?? 0) : undefined;
      if (guardian !== undefined) process.kill(guardian, 'SIGKILL');
      await signalAndWait(child, 'SIGKILL');
    },
  };
}

async function signalAndWait(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
  return child.exitCode;
}

/** Linux tells a process's children; elsewhere the guardian stays, which the test does not need to pass. */
async function guardianOf(pid: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  for (const child of children.trim().split(' ').filter(Boolean)) {
    const commandLine = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '');
    if (commandLine.includes('guardian.ts')) return Number(child);
  }
  return undefined;
}

/** A data folder of the test's own. */
export async function makeDataFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'clipledger-stack-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** The servers' pids that still run. */
export async function livingServers({ pids }: EmbeddedAddresses): Promise<number[]> {
  const all = Object.values(pids);
  const alive = await Promise.all(all.map(isAlive));
  return all.filter((_, index) => alive[index]);
}

/** Writes one mark to each of the three servers and returns it. */
export async function writeMark(addresses: EmbeddedAddresses): Promise<string> {
  const mark = randomUUID();
  await Promise.all([appendMark(addresses, mark), insertMark(addresses, mark), putMark(addresses, mark)]);
  return mark;
}

/** Waits until each server gives back all the marks: a server that was just restarted may need a moment. */
export async function expectMarks(addresses: EmbeddedAddresses, marks: readonly string[]): Promise<void> {
  for (const [server, read] of Object.entries({ kafka: readRecords, postgres: readRows, s3: readObjects })) {
    await until(`${server} gives back all marks`, 30_000, async () => {
      const found = await read(addresses, marks);
      return marks.every((mark) => found.includes(mark)) ? true : undefined;
    });
  }
}

const silentLog = createLogger({ LOG_LEVEL: 'silent' }, 'test');
const configOf = (addresses: EmbeddedAddresses) => parseConfig(addressEnvironment(addresses));

async function appendMark(addresses: EmbeddedAddresses, mark: string): Promise<void> {
  const config = configOf(addresses);
  const kafka = connectKafka(config, { clientId: 'test', log: silentLog });
  await ensureTopics(kafka, config);
  const appender = await openAppender(kafka, { log: silentLog });
  await appender.append([{ topic: 'job.events', key: mark, value: Buffer.from(mark) }]);
  await appender.close();
}

async function readRecords(addresses: EmbeddedAddresses): Promise<string[]> {
  const kafka = connectKafka(configOf(addresses), { clientId: 'test', log: silentLog });
  const found: string[] = [];
  for await (const { records } of readLog(kafka, { topics: ['job.events'] })) {
    found.push(...records.map(({ value }) => value.toString()));
  }
  return found;
}

async function insertMark(addresses: EmbeddedAddresses, mark: string): Promise<void> {
  await withDatabase(addresses, async (client) => {
    await client.query('CREATE TABLE IF NOT EXISTS mark (mark text)');
    await client.query('INSERT INTO mark VALUES ($1)', [mark]);
  });
}

async function readRows(addresses: EmbeddedAddresses): Promise<string[]> {
  return withDatabase(addresses, async (client) => {
    const { rows } = await client.query<{ mark: string }>('SELECT mark FROM mark');
    return rows.map(({ mark }) => mark);
  });
}

async function withDatabase<T>(
  addresses: EmbeddedAddresses,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: addresses.databaseUrl });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function putMark(addresses: EmbeddedAddresses, mark: string): Promise<void> {
  const storage = ObjectStorage.connect(storageSettings(configOf(addresses)));
  await storage.putBytes(`marks/${mark}`, Buffer.from(mark), { contentType: 'text/plain' });
}

async function readObjects(addresses: EmbeddedAddresses, marks: readonly string[]): Promise<string[]> {
  const storage = ObjectStorage.connect(storageSettings(configOf(addresses)));
  const heads = await Promise.all(marks.map((mark) => storage.head(`marks/${mark}`)));
  return marks.filter((mark, index) => heads[index]?.bytes === mark.length);
}
