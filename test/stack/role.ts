/** The service's three processes. */
export type Role = 'api' | 'projector' | 'workers';

export const roles: readonly Role[] = ['api', 'projector', 'workers'];

/** One running process of the service, as a process of this machine or as a container. */
export type RoleInstance = {
  /** Its HTTP address: the API, or the health and metrics of the others. */
  readonly baseUrl: string;
  /** kill -9, of the one process. */
  kill(): Promise<void>;
  /** Asks it to stop and waits; throws when it had to be killed, as it must stop by itself. */
  stop(): Promise<void>;
  /** What it has logged so far. */
  log(): Promise<string>;
};

export type RoleRequest = {
  readonly role: Role;
  /** For the log's name. */
  readonly index: number;
  readonly env: Readonly<Record<string, string>>;
};

export const readyLimitMs = 90_000;
export const stopLimitMs = 30_000;
const logTailLength = 4_000;

/** The end of a log, for the message of an error. */
export const logTail = (log: string): string => log.slice(-logTailLength);
