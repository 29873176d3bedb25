import { startContainerRole } from './container-role.ts';
import { startProcessRole } from './process-role.ts';
import { type Role, type RoleInstance, roles } from './role.ts';
import type { Tenant } from './tenant.ts';

export type ServiceRequest = {
  /** How many processes of each role; none where it is absent. */
  readonly api?: number;
  readonly projector?: number;
  readonly workers?: number;
  /** Settings beside the tenant's own. */
  readonly env?: Readonly<Record<string, string>>;
};

/** The service at work for one tenant. */
export type RunningService = {
  /** The addresses of the API instances. */
  readonly baseUrls: readonly string[];
  /** The address of one process: the API, or the health and metrics of the others. */
  baseUrl(role: Role, index: number): string;
  /** kill -9 of one process. */
  kill(role: Role, index: number): Promise<void>;
  /** Starts a process anew in the place of one that was killed; its address changes. */
  restart(role: Role, index: number): Promise<void>;
  log(role: Role, index: number): Promise<string>;
  /** Stops all, each in order; throws when one had to be killed. */
  stop(): Promise<void>;
};

/**
 * Starts the service's processes for `tenant` and waits until all are ready: as containers of the
 * project's image where the platform has them, else as processes of this machine.
 */
export async function startService(tenant: Tenant, request: ServiceRequest): Promise<RunningService> {
  const start = (role: Role, index: number): Promise<RoleInstance> => {
    const wanted = { role, index, env: request.env ?? {} };
    const { containers } = tenant.platform;
    return containers === null
      ? startProcessRole(tenant, wanted)
      : startContainerRole(tenant, containers, wanted);
  };
  const places = roles.flatMap((role) =>
    Array.from({ length: request[role] ?? 0 }, (_, index) => ({ role, index })),
  );
  const outcomes = await Promise.allSettled(places.map(({ role, index }) => start(role, index)));
  const instances = new Map<string, RoleInstance>();
  for (const [at, outcome] of outcomes.entries()) {
    const place = places[at];
    if (place !== undefined && outcome.status === 'fulfilled') instances.set(keyOf(place), outcome.value);
  }
  const service = new Service(start, instances);
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure === undefined) return service;
  await service.stop().catch(() => undefined);
  throw failure.reason;
}

type Place = { readonly role: Role; readonly index: number };

const keyOf = ({ role, index }: Place): string => `${role} ${index}`;

class Service implements RunningService {
  readonly #start: (role: Role, index: number) => Promise<RoleInstance>;
  readonly #instances: Map<string, RoleInstance>;

  constructor(
    start: (role: Role, index: number) => Promise<RoleInstance>,
    instances: Map<string, RoleInstance>,
  ) {
    this.#start = start;
    this.#instances = instances;
  }

  get baseUrls(): readonly string[] {
    return [...this.#instances].filter(([key]) => key.startsWith('api ')).map(([, { baseUrl }]) => baseUrl);
  }

  baseUrl(role: Role, index: number): string {
    return this.#instance(role, index).baseUrl;
  }

  kill(role: Role, index: number): Promise<void> {
    return this.#instance(role, index).kill();
  }

  async restart(role: Role, index: number): Promise<void> {
    await this.#instance(role, index).stop();
    this.#instances.set(keyOf({ role, index }), await this.#start(role, index));
  }

  log(role: Role, index: number): Promise<string> {
    return this.#instance(role, index).log();
  }

  async stop(): Promise<void> {
    const outcomes = await Promise.allSettled(
      [...this.#instances.values()].map((instance) => instance.stop()),
    );
    this.#instances.clear();
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason);
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n\n'));
  }

  #instance(role: Role, index: number): RoleInstance {
    const instance = this.#instances.get(keyOf({ role, index }));
    if (instance === undefined) throw new Error(`There is no ${role} ${index} in this service.`);
    return instance;
  }
}
