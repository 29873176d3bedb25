import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { type Config, parseConfig } from '../config.ts';
import { describeOwner } from '../embedded/data-folder-lock.ts';
import { findRunningStack, stackFile } from '../embedded/running-stack.ts';
import { DataFolderInUse } from '../embedded/stack.ts';
import { embeddedParts, provideStack } from './provide-stack.ts';
import { isRoleName, type RoleName, roleNames } from './role.ts';
import { type RunningService, startService } from './service.ts';
import { listenForStop } from './stop-signals.ts';
import { createNarrator, paint } from './terminal.ts';

const help = `Usage: npm start [-- api | projector | workers | stack]

Without a name: Kafka, PostgreSQL and S3 on this machine, the API, the projector and the workers, until
Ctrl-C. With a name: that part alone; the servers it needs are those of a start that is running, or its
own. \`stack\` is Kafka, PostgreSQL and S3 alone. When all is ready, one line is on stdout:

  ready http://127.0.0.1:8080

Progress is on stderr, the parts' logs in .data/logs.

Settings, by environment variable:
  PORT, HOST             where the API listens (8080, 127.0.0.1)
  KAFKA_BROKERS, DATABASE_URL, S3_ENDPOINT
                         use your own in place of the embedded ones
  DATA_DIR               where data and logs are kept (.data)
All others, with their defaults, are in infra/config.ts.
`;

const narrator = createNarrator();

process.exitCode = await main(process.argv.slice(2)).catch((error: Error) => {
  process.stderr.write(`\n${paint('red', 'Cannot start:')} ${error.message}\n`);
  return 1;
});

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(help);
    return 0;
  }
  const [name, ...rest] = args;
  if (rest.length > 0 || (name !== undefined && name !== 'stack' && !isRoleName(name))) {
    throw new Error(
      `there is no part "${args.join(' ')}": it is ${roleNames.join(', ')} or stack. See npm start -- --help.`,
    );
  }
  const config = parseConfig(process.env);
  return name === 'stack' ? runStackAlone(config) : runRoles(config, name === undefined ? roleNames : [name]);
}

async function runRoles(config: Config, roles: readonly RoleName[]): Promise<number> {
  const signal = listenForStop(() => forceStop(() => service.kill()));
  const service = startService({ roles, config, environment: process.env, narrator, signal });
  let running: RunningService;
  try {
    running = await service.ready;
  } catch (error) {
    if (signal.aborted) return 0;
    throw error;
  }
  process.stdout.write(`ready ${running.url}\n`);
  narrator.say('start', `Ctrl-C stops everything. Logs: ${join(resolve(config.DATA_DIR), 'logs')}`);
  await untilAborted(signal);
  narrator.say('start', 'stopping (Ctrl-C again ends everything at once)');
  await running.stop();
  return 0;
}

async function runStackAlone(config: Config): Promise<number> {
  const dataDir = resolve(config.DATA_DIR);
  const other = await findRunningStack(dataDir);
  if (other !== undefined) throw new DataFolderInUse(describeOwner(dataDir));
  if (embeddedParts(config).length === 0) {
    throw new Error(
      'KAFKA_BROKERS, DATABASE_URL and S3_ENDPOINT are all set, so there is nothing to run here.',
    );
  }
  let kill = () => {};
  const signal = listenForStop(() => forceStop(() => kill()));
  const stack = await provideStack(config, narrator, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (stack === undefined) return 0;
  kill = () => stack.kill();
  if (!signal.aborted) process.stdout.write(`ready ${stackFile(dataDir)}\n`);
  await untilAborted(signal);
  narrator.say('stack', 'stopping (Ctrl-C again ends everything at once)');
  await stack.stop();
  return 0;
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** The guardian sees to whatever is left. */
function forceStop(kill: () => void): never {
  kill();
  process.exit(130);
}
