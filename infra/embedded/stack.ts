import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadCredentials, type StackCredentials } from './credentials.ts';
import { type DataFolderLock, describeOwner, lockDataFolder } from './data-folder-lock.ts';
import {
  createProcessGuard,
  type GuardedProcess,
  type ProcessGuard,
  type ProgramExit,
} from './guarded-processes.ts';
import { ensureJavaLibraries, type JavaLibraries } from './java-libraries.ts';
import { kafkaServer } from './kafka-server.ts';
import { stopOrphans } from './orphans.ts';
import { choosePorts, type PortName, type StackPorts } from './ports.ts';
import { postgresServer, postgresUrl } from './postgres-server.ts';
import { type S3Address, stackFile } from './running-stack.ts';
import { s3Server } from './s3-server.ts';
import { ServerEnded, type StackPart, type StackServer, stackParts, startServer } from './stack-server.ts';

export type StackProgress = { readonly part: StackPart | 'stack'; readonly message: string };

export type StackOptions = {
  /** Everything the stack keeps is here: data, ports, credentials, logs. */
  readonly dataDir: string;
  /** Which servers to run; all by default. */
  readonly parts?: readonly StackPart[];
  /** Runs for long and may start a little slower for being quicker later; false by default. */
  readonly isLasting?: boolean;
  readonly onProgress?: (progress: StackProgress) => void;
  /** Called when a server that served ends without having been asked to. */
  readonly onUnexpectedExit?: (part: StackPart, exit: ProgramExit) => void;
  /** Gives up a start that is under way; what has been started is stopped. */
  readonly signal?: AbortSignal;
  /** Where the jars are kept; one place for all data folders of a checkout by default. */
  readonly librariesDir?: string;
};

/** A running stack: real Kafka, PostgreSQL and S3 on this machine. */
export type EmbeddedStack = {
  readonly kafkaBrokers: string[];
  readonly databaseUrl: string;
  readonly s3: S3Address;
  /** `WEBHOOK_MASTER_KEY` of this data folder. */
  readonly webhookMasterKey: string;
  /** The servers' process ids now; 0 for a part that is not run. */
  readonly pids: Readonly<Record<StackPart, number>>;
  /** Starts `part` again on its port, after stopping it in order where it still runs. */
  restart(part: StackPart): Promise<void>;
  /** Stops all servers in order; the data folder is free afterwards. */
  stop(): Promise<void>;
  /** Ends all servers at once; `stop` still waits for their end. */
  kill(): void;
};

/** Another living process runs servers on this data folder. */
export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';
}

const bucket = 'clipledger';
const region = 'us-east-1';
const lockWaitMs = 2_000;
const startAttempts = 4;
const attemptPauseMs = 500;
const portsOfPart: Readonly<Record<StackPart, readonly PortName[]>> = {
  kafka: ['kafka', 'kafkaController'],
  postgres: ['postgres'],
  s3: ['s3'],
};
const defaultLibrariesDir = fileURLToPath(new URL('../../.data/lib', import.meta.url));

/**
 * Starts the servers side by side and waits until all serve. Data, ports and credentials are those of
 * the last start on `dataDir`. Servers left over from a killed start are stopped first. When this process
 * ends, however it ends, the servers are stopped. Throws `DataFolderInUse` when another process has the folder.
 */
export async function startEmbeddedStack(options: StackOptions): Promise<EmbeddedStack> {
  const dataDir = resolve(options.dataDir);
  // The account `postgres` passes through this folder; what is secret in it is closed by itself.
  await mkdir(dataDir, { recursive: true, mode: 0o755 });
  const lock = lockDataFolder(dataDir, lockWaitMs);
  if (lock === undefined) throw new DataFolderInUse(describeOwner(dataDir));
  const guard = createProcessGuard();
  const stack = new StackRunner({ ...options, dataDir }, lock, guard);
  try {
    await stack.start();
    return stack;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

class StackRunner implements EmbeddedStack {
  readonly #options: StackOptions;
  readonly #parts: readonly StackPart[];
  readonly #lock: DataFolderLock;
  readonly #guard: ProcessGuard;
  readonly #running = new Map<StackPart, GuardedProcess>();
  #stopping = false;
  #ports: StackPorts = { kafka: 0, kafkaController: 0, postgres: 0, s3: 0 };
  #credentials: StackCredentials | undefined;
  #libraries: JavaLibraries | undefined;

  constructor(options: StackOptions, lock: DataFolderLock, guard: ProcessGuard) {
    this.#options = options;
    this.#parts = options.parts ?? stackParts;
    this.#lock = lock;
    this.#guard = guard;
  }

  get kafkaBrokers(): string[] {
    return [`127.0.0.1:${this.#ports.kafka}`];
  }

  get databaseUrl(): string {
    return postgresUrl({ port: this.#ports.postgres, password: this.#secrets().postgresPassword });
  }

  get s3(): S3Address {
    const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = this.#secrets();
    return { endpoint: `http://127.0.0.1:${this.#ports.s3}`, region, accessKeyId, secretAccessKey, bucket };
  }

  get webhookMasterKey(): string {
    return this.#secrets().webhookMasterKey;
  }

  get pids(): Readonly<Record<StackPart, number>> {
    const pidOf = (part: StackPart) => this.#running.get(part)?.pid ?? 0;
    return { kafka: pidOf('kafka'), postgres: pidOf('postgres'), s3: pidOf('s3') };
  }

  async start(): Promise<void> {
    const { dataDir } = this.#options;
    await rm(stackFile(dataDir), { force: true });
    this.#credentials = await loadCredentials(dataDir);
    if (this.#parts.some((part) => part !== 'postgres')) {
      const librariesDir = this.#options.librariesDir ?? defaultLibrariesDir;
      this.#libraries = await ensureJavaLibraries(librariesDir, {
        onProgress: (message) => this.#say('stack', message),
        ...(this.#options.signal && { signal: this.#options.signal }),
      });
    }
    await stopOrphans(
      this.#parts.map((part) => this.#server(part)),
      (message) => this.#say('stack', message),
    );
    this.#ports = await choosePorts(
      dataDir,
      this.#parts.flatMap((part) => portsOfPart[part]),
    );
    // Settled, not raced: nothing may still be starting when a failure makes us stop.
    const outcomes = await Promise.allSettled(this.#parts.map((part) => this.#startPart(part)));
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    await this.#writeStackFile();
  }

  async restart(part: StackPart): Promise<void> {
    if (!this.#parts.includes(part)) throw new Error(`${part} is not run by this stack.`);
    const old = this.#running.get(part);
    this.#running.delete(part);
    await old?.stop();
    await this.#startPart(part);
    await this.#writeStackFile();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await rm(stackFile(this.#options.dataDir), { force: true });
    await Promise.all([...this.#running.values()].map((server) => server.stop()));
    await this.#guard.close();
    this.#lock.release();
  }

  kill(): void {
    for (const server of this.#running.values()) server.kill();
  }

  /**
   * A server that ends while it starts is tried again: sessions of a killed PostgreSQL hold its memory
   * for a moment longer.
   */
  async #startPart(part: StackPart): Promise<void> {
    const say = (message: string) => this.#say(part, message);
    const server = this.#server(part);
    for (let attempt = 1; ; attempt++) {
      try {
        this.#options.signal?.throwIfAborted();
        await server.prepare(say);
        say('starting');
        this.#watch(part, await startServer(server, this.#options.signal));
        return say('ready');
      } catch (error) {
        if (!(error instanceof ServerEnded) || attempt === startAttempts || this.#stopping) throw error;
        say('ended while it started; trying again');
        await stopOrphans([server], say);
        await sleep(attemptPauseMs * attempt);
      }
    }
  }

  #watch(part: StackPart, server: GuardedProcess): void {
    this.#running.set(part, server);
    void server.exited.then((exit) => {
      const isCurrent = this.#running.get(part) === server;
      if (isCurrent && !this.#stopping) this.#options.onUnexpectedExit?.(part, exit);
    });
  }

  #server(part: StackPart): StackServer {
    const { dataDir } = this.#options;
    const guard = this.#guard;
    const secrets = this.#secrets();
    const ports = this.#ports;
    switch (part) {
      case 'kafka': {
        const { kafka: port, kafkaController: controllerPort } = ports;
        return kafkaServer({
          dataDir,
          guard,
          port,
          controllerPort,
          clusterId: secrets.kafkaClusterId,
          libraries: this.#jars(),
          isLasting: this.#options.isLasting ?? false,
        });
      }
      case 'postgres':
        return postgresServer({ dataDir, guard, port: ports.postgres, password: secrets.postgresPassword });
      case 's3': {
        const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = secrets;
        return s3Server({
          dataDir,
          guard,
          port: ports.s3,
          accessKeyId,
          secretAccessKey,
          bucket,
          libraries: this.#jars(),
        });
      }
    }
  }

  #secrets(): StackCredentials {
    if (this.#credentials === undefined) throw new Error('The stack has no credentials before it starts.');
    return this.#credentials;
  }

  #jars(): JavaLibraries {
    if (this.#libraries === undefined) throw new Error('The stack has no Java libraries before it starts.');
    return this.#libraries;
  }

  async #writeStackFile(): Promise<void> {
    const runs = (part: StackPart) => this.#parts.includes(part);
    const content = {
      ownerPid: process.pid,
      pids: this.pids,
      ...(runs('kafka') && { kafkaBrokers: this.kafkaBrokers, webhookMasterKey: this.webhookMasterKey }),
      ...(runs('postgres') && { databaseUrl: this.databaseUrl }),
      ...(runs('s3') && { s3: this.s3 }),
    };
    const file = stackFile(this.#options.dataDir);
    await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  #say(part: StackProgress['part'], message: string): void {
    this.#options.onProgress?.({ part, message });
  }
}
