import { fileURLToPath } from 'node:url';

/** The three programs of the service. */
export type RoleName = 'api' | 'projector' | 'workers';

/** In the order in which they start; they stop in the opposite order of their listing in `stopOrder`. */
export const roleNames: readonly RoleName[] = ['projector', 'api', 'workers'];

/** First whatever takes new work, last what others wait for. */
export const stopOrder: readonly RoleName[] = ['api', 'workers', 'projector'];

/** Whether `text` names a role. */
export function isRoleName(text: string): text is RoleName {
  return roleNames.some((name) => name === text);
}

/** A role about to run: where its health is asked, and the environment that it is given. */
export type Role = {
  readonly name: RoleName;
  readonly host: string;
  readonly healthPort: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** The program file of a role. */
export function roleProgram(name: RoleName): string {
  return fileURLToPath(new URL(`../../${name}/main.ts`, import.meta.url));
}

/** Where a role answers; a server on all interfaces is asked on this machine's own. */
export function roleUrl({ host, healthPort }: Pick<Role, 'host' | 'healthPort'>): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${healthPort}`;
}
