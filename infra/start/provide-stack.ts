import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { addressEnvironment, type EmbeddedAddresses, findRunningStack } from '../embedded/running-stack.ts';
import { type EmbeddedStack, startEmbeddedStack } from '../embedded/stack.ts';
import type { StackPart } from '../embedded/stack-server.ts';
import { restartPause } from './restart-pause.ts';
import type { Narrator } from './terminal.ts';

/** The three parts, wherever they run, as the environment that our processes are given. */
export type ProvidedStack = {
  readonly environment: Readonly<Record<string, string>>;
  /** Stops what we started, and nothing else. */
  stop(): Promise<void>;
  kill(): void;
};

/**
 * Finds or starts Kafka, PostgreSQL and S3: a part whose address is set is the user's own; else the stack
 * that already runs on the data folder is used; else it is started here and kept running until `stop`.
 */
export async function provideStack(
  config: Config,
  narrator: Narrator,
  signal: AbortSignal,
): Promise<ProvidedStack> {
  const parts = embeddedParts(config);
  if (parts.length === 0) return { environment: {}, stop: async () => {}, kill: () => {} };
  const dataDir = resolve(config.DATA_DIR);
  const running = await findRunningStack(dataDir);
  const keyOfOwn = config.WEBHOOK_MASTER_KEY !== undefined;
  const environmentOf = (stack: StackAddresses) => addressEnvironment(onlyParts(stack, parts, keyOfOwn));
  if (running !== undefined) return adoptStack(running, parts, { narrator, environmentOf });
  return runStack(dataDir, parts, { narrator, environmentOf, signal });
}

/** The parts for which no address of the user's own is set. */
export function embeddedParts(
  config: Pick<Config, 'KAFKA_BROKERS' | 'DATABASE_URL' | 'S3_ENDPOINT'>,
): StackPart[] {
  return [
    ...(config.KAFKA_BROKERS === undefined ? (['kafka'] as const) : []),
    ...(config.DATABASE_URL === undefined ? (['postgres'] as const) : []),
    ...(config.S3_ENDPOINT === undefined ? (['s3'] as const) : []),
  ];
}

type StackAddresses = Pick<EmbeddedAddresses, 'kafkaBrokers' | 'databaseUrl' | 's3' | 'webhookMasterKey'>;

type Provision = {
  readonly narrator: Narrator;
  readonly environmentOf: (stack: StackAddresses) => Readonly<Record<string, string>>;
};

function adoptStack(
  running: EmbeddedAddresses,
  parts: readonly StackPart[],
  { narrator, environmentOf }: Provision,
): ProvidedStack {
  const absent = parts.filter((part) => running.pids[part] === 0);
  if (absent.length > 0) {
    throw new Error(
      `The stack that process ${running.ownerPid} runs on this data folder has no ${absent.join(' and no ')}: ` +
        `stop it first (kill ${running.ownerPid}), or set DATA_DIR to another folder.`,
    );
  }
  narrator.say('stack', `using the one that process ${running.ownerPid} runs; it stops with that process`);
  return { environment: environmentOf(running), stop: async () => {}, kill: () => {} };
}

async function runStack(
  dataDir: string,
  parts: readonly StackPart[],
  { narrator, environmentOf, signal }: Provision & { readonly signal: AbortSignal },
): Promise<ProvidedStack> {
  let stopping = false;
  const bringBack = async (part: StackPart, stack: EmbeddedStack) => {
    for (let failures = 1; !stopping; failures++) {
      await restartPause(failures);
      if (stopping) return;
      try {
        return await stack.restart(part);
      } catch (error) {
        narrator.warn(part, `did not start: ${(error as Error).message}`);
      }
    }
  };
  const started: EmbeddedStack = await startEmbeddedStack({
    dataDir,
    parts,
    isLasting: true,
    signal,
    onProgress: ({ part, message }) => narrator.say(part, message),
    onUnexpectedExit: (part, { code, signal }) => {
      narrator.warn(
        part,
        `ended unexpectedly (${signal ?? `code ${code}`}); starting it again. Its log: ${join(dataDir, 'logs', `${part}.log`)}`,
      );
      void bringBack(part, started);
    },
  });
  return {
    environment: environmentOf(started),
    stop: () => {
      stopping = true;
      return started.stop();
    },
    kill: () => started.kill(),
  };
}

/** Of a stack's addresses and secrets those that the user has not replaced. */
function onlyParts(stack: StackAddresses, parts: readonly StackPart[], keyOfOwn: boolean): StackAddresses {
  const { webhookMasterKey } = stack;
  return {
    ...(parts.includes('kafka') && { kafkaBrokers: stack.kafkaBrokers }),
    ...(parts.includes('postgres') && { databaseUrl: stack.databaseUrl }),
    ...(parts.includes('s3') && { s3: stack.s3 }),
    ...(parts.includes('kafka') && !keyOfOwn && { webhookMasterKey }),
  };
}
