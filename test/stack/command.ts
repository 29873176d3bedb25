import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from './child-environment.ts';
import type { Tenant } from './tenant.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const programs = { admin: 'api/admin/main.ts', audit: 'projector/audit/main.ts' } as const;
const commandLimitMs = 60_000;

export type CommandResult = { readonly exitCode: number; readonly stdout: string; readonly stderr: string };

/** Runs `npm run admin` or `npm run audit` for a tenant and says how it ended. */
export function runCommand(
  tenant: Tenant,
  command: keyof typeof programs,
  args: readonly string[],
): Promise<CommandResult> {
  const env = { ...childEnvironment, ...tenant.env };
  return new Promise((resolve, reject) => {
    const options = { cwd: repository, env, timeout: commandLimitMs, maxBuffer: 64 << 20 };
    execFile(process.execPath, [programs[command], ...args], options, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : error.code;
      if (typeof exitCode === 'number') return resolve({ exitCode, stdout, stderr });
      reject(new Error(`${command} ${args.join(' ')} did not end by itself: ${stderr}`, { cause: error }));
    });
  });
}

/** Runs a command that must succeed, and gives its answer in JSON. */
export async function runJson(
  tenant: Tenant,
  command: keyof typeof programs,
  args: readonly string[],
): Promise<unknown> {
  const { exitCode, stdout, stderr } = await runCommand(tenant, command, args);
  if (exitCode !== 0)
    throw new Error(`${command} ${args.join(' ')} ended with ${exitCode}: ${stderr}${stdout}`);
  return JSON.parse(stdout);
}
