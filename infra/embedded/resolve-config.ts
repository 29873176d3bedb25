import { resolve } from 'node:path';
import { type Config, ConfigError, parseConfig } from '../config.ts';
import { addressEnvironment, findRunningStack } from './running-stack.ts';

type Environment = Readonly<Record<string, string | undefined>>;
export type Address = 'KAFKA_BROKERS' | 'DATABASE_URL';

/** Nothing runs on this machine, and the settings name no service elsewhere. */
export class ServiceNotRunning extends ConfigError {}

/**
 * The settings of one process or command: the environment first, and what it leaves open from the stack
 * that runs on `DATA_DIR`. Throws `ServiceNotRunning` when an address in `needed` is known from neither.
 */
export async function resolveConfig(env: Environment, needed: readonly Address[]): Promise<Config> {
  const given = parseConfig(env);
  const stack = await findRunningStack(given.DATA_DIR);
  const config = stack === undefined ? given : parseConfig({ ...addressesFor(env, stack), ...present(env) });
  const missing = needed.filter((name) => config[name] === undefined);
  if (missing.length === 0) return config;
  throw new ServiceNotRunning(
    `No service is running on ${resolve(given.DATA_DIR)}, and ${missing.join(' and ')} ${
      missing.length === 1 ? 'is' : 'are'
    } not set. Start it with \`npm start\`, or set the addresses of your own.`,
  );
}

/**
 * Credentials belong to their server: with an S3 endpoint of the user's own, nothing of the stack's S3 is
 * taken, and with a Kafka of the user's own not the key of the teams' webhook secrets.
 */
function addressesFor(
  env: Environment,
  stack: Parameters<typeof addressEnvironment>[0],
): Record<string, string> {
  const { s3, webhookMasterKey, ...rest } = stack;
  const isOwn = (name: string) => (env[name] ?? '') !== '';
  return addressEnvironment({
    ...rest,
    ...(isOwn('S3_ENDPOINT') || s3 === undefined ? {} : { s3 }),
    ...(isOwn('KAFKA_BROKERS') || webhookMasterKey === undefined ? {} : { webhookMasterKey }),
  });
}

const present = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
