import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config } from '../config.ts';
import { createProcessGuard } from '../embedded/guarded-processes.ts';
import { findFreePort, isPortFree } from '../embedded/ports.ts';
import { findPortOwner } from './port-owner.ts';
import { type ProvidedStack, provideStack } from './provide-stack.ts';
import { type Role, type RoleName, roleUrl, stopOrder } from './role.ts';
import { stopLeftOverRoles } from './role-records.ts';
import { type SupervisedRole, superviseRole } from './role-supervisor.ts';
import type { Narrator } from './terminal.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Which roles to run with which settings. */
export type ServiceOptions = {
  readonly roles: readonly RoleName[];
  readonly config: Config;
  /** What the roles inherit; addresses and ports are added. */
  readonly environment: Environment;
  readonly narrator: Narrator;
  /** Stops a start that is still under way. */
  readonly signal: AbortSignal;
};

/** The stack and roles of one start. */
export type RunningService = {
  /** Where the first role answers: the API where it runs. */
  readonly url: string;
  /** The environment of the roles, for commands that work with them. */
  readonly environment: Environment;
  stop(): Promise<void>;
  /** Ends everything at once. */
  kill(): void;
};

/**
 * Starts what is needed (the stack, then the roles side by side) and resolves when all roles are ready.
 * When that fails, or `signal` is aborted, everything started is stopped and the promise rejects.
 */
export function startService(options: ServiceOptions): {
  readonly ready: Promise<RunningService>;
  kill(): void;
} {
  const started: { stack?: ProvidedStack; roles: Map<RoleName, SupervisedRole> } = { roles: new Map() };
  const guard = createProcessGuard();
  const kill = () => {
    for (const role of started.roles.values()) role.kill();
    started.stack?.kill();
  };
  const stop = async () => {
    for (const name of stopOrder) await started.roles.get(name)?.stop();
    await started.stack?.stop();
    await guard.close();
  };
  const start = async (): Promise<RunningService> => {
    const { config, narrator, signal } = options;
    const dataDir = resolve(config.DATA_DIR);
    await mkdir(dataDir, { recursive: true });
    await stopLeftOverRoles(dataDir, (message) => narrator.say('start', message));
    if (options.roles.includes('api')) await demandFreePort(config);
    started.stack = await provideStack(config, narrator, signal);
    signal.throwIfAborted();
    const environment = { ...options.environment, ...started.stack.environment, DATA_DIR: dataDir };
    const roles = await describeRoles(options, environment);
    for (const role of roles) started.roles.set(role.name, superviseRole(role, { dataDir, guard, narrator }));
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    await Promise.race([Promise.all([...started.roles.values()].map((role) => role.ready)), aborted]);
    const [first] = roles;
    return { url: first === undefined ? '' : roleUrl(first), environment, stop, kill };
  };
  const ready = start().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { ready, kill };
}

/** Says who has the port before anything is started, since that is the error people meet most. */
async function demandFreePort({ HOST, PORT }: Config): Promise<void> {
  if (await isPortFree(PORT, HOST)) return;
  const owner = await findPortOwner(PORT);
  const who =
    owner === undefined ? 'another program' : `process ${owner.pid} (${owner.commandLine.slice(0, 120)})`;
  const stopIt = owner === undefined ? 'Stop it' : `Stop it (kill ${owner.pid})`;
  throw new Error(
    `port ${PORT} is taken by ${who}. ${stopIt}, or choose another port: PORT=${PORT + 1} npm start`,
  );
}

/** The API answers on PORT; of the others, one that runs alone takes METRICS_PORT, and else each a free one. */
async function describeRoles({ roles, config }: ServiceOptions, environment: Environment): Promise<Role[]> {
  const taken: number[] = [config.PORT];
  const described: Role[] = [];
  for (const name of roles) {
    const ownPort = roles.length === 1 && config.METRICS_PORT !== 0 ? config.METRICS_PORT : undefined;
    const healthPort = name === 'api' ? config.PORT : (ownPort ?? (await findFreePort(taken)));
    taken.push(healthPort);
    const ports = name === 'api' ? { PORT: String(healthPort) } : { METRICS_PORT: String(healthPort) };
    described.push({ name, host: config.HOST, healthPort, environment: { ...environment, ...ports } });
  }
  return described.sort((a, b) => Number(b.name === 'api') - Number(a.name === 'api'));
}
