import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import { type Engine, findEngine } from '#infra/containers/engine.ts';
import { noHealthCheck } from './no-health-check.ts';
import { type ContainerHost, runLabel } from './platform.ts';
import { provideServiceImage } from './platform-control.ts';
import { goWithoutReaper } from './reaper.ts';
import { logTail, type RoleInstance, type RoleRequest, readyLimitMs, stopLimitMs } from './role.ts';
import type { Tenant } from './tenant.ts';

const apiPort = 8080;
const metricsPort = 9464;
/** The exit code of a process that SIGKILL ended, as Docker tells it. */
const killedExitCode = 137;

/** Starts one process of the service as a container of its own image, and waits until it is ready. */
export async function startContainerRole(
  tenant: Tenant,
  host: ContainerHost,
  request: RoleRequest,
): Promise<RoleInstance> {
  const engine = await findEngine();
  if (engine === undefined) throw new Error('The Docker daemon does not answer any more.');
  if (!host.hasReaper) goWithoutReaper();
  await provideServiceImage(tenant.platform);
  const port = request.role === 'api' ? apiPort : metricsPort;
  let log = '';
  const container = new GenericContainer(host.image)
    .withCommand([`${request.role}/main.ts`])
    .withEnvironment({ ...tenant.containerEnv, ...request.env, DATA_DIR: '/tmp/data' })
    .withNetworkMode(host.network)
    .withLabels({ [runLabel]: tenant.platform.runId })
    .withExposedPorts(port)
    .withExtraHosts(
      host.hostName === 'host.docker.internal' ? [{ host: host.hostName, ipAddress: 'host-gateway' }] : [],
    )
    .withLogConsumer((stream) => {
      stream.on('data', (chunk) => {
        log += String(chunk);
      });
    })
    .withHealthCheck(noHealthCheck)
    .withWaitStrategy(Wait.forHttp('/health/ready', port).forStatusCode(200))
    .withStartupTimeout(readyLimitMs);
  let started: StartedTestContainer;
  try {
    started = await container.start();
  } catch (cause) {
    throw new Error(`${request.role} did not become ready. Its log ends:\n${logTail(log)}`, { cause });
  }
  return new ContainerRole(request.role, engine, started, port, () => log);
}

class ContainerRole implements RoleInstance {
  readonly baseUrl: string;
  readonly #role: string;
  readonly #engine: Engine;
  readonly #id: string;
  readonly #log: () => string;
  #killed = false;

  constructor(role: string, engine: Engine, started: StartedTestContainer, port: number, log: () => string) {
    this.#role = role;
    this.#engine = engine;
    this.#id = started.getId();
    this.#log = log;
    this.baseUrl = `http://127.0.0.1:${started.getMappedPort(port)}`;
  }

  log(): Promise<string> {
    return Promise.resolve(this.#log());
  }

  async kill(): Promise<void> {
    this.#killed = true;
    const container = this.#engine.getContainer(this.#id);
    await container.kill({ signal: 'SIGKILL' });
    await container.wait();
  }

  async stop(): Promise<void> {
    const container = this.#engine.getContainer(this.#id);
    if (!this.#killed) await container.stop({ t: stopLimitMs / 1000 }).catch(ignoreStopped);
    const { State: state } = await container.inspect();
    await container.remove({ force: true, v: true });
    if (this.#killed || state.ExitCode === 0) return;
    const how = state.ExitCode === killedExitCode ? 'it had to be killed' : `exit code ${state.ExitCode}`;
    throw new Error(`${this.#role} did not stop in order (${how}). Its log ends:\n${logTail(this.#log())}`);
  }
}

/** 304: the container has stopped already. */
function ignoreStopped(error: unknown): void {
  if ((error as { statusCode?: number }).statusCode !== 304) throw error;
}
