import { z } from 'zod';
import { runProgram } from './run-program.ts';

/** A team with money and a key, as an operator would make it. */
export type DemoTeam = { readonly teamId: number; readonly apiKey: string };

type Commands = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
};

const teamCreated = z.object({ team_id: z.int() });
const keyCreated = z.object({ key: z.string() });

const topUpCents = 2_000;

/** Makes the team by the admin commands: billing active, $20, one key. */
export async function makeDemoTeam(commands: Commands): Promise<DemoTeam> {
  const admin = async (...args: string[]): Promise<unknown> =>
    JSON.parse(await runProgram({ program: 'api/admin/main.ts', args: [...args, '--json'], ...commands }));
  const { team_id: teamId } = teamCreated.parse(await admin('team', 'create', '--name', 'Demo'));
  const team = ['--team', String(teamId)];
  const [{ key: apiKey }] = await Promise.all([
    admin('key', 'create', ...team, '--name', 'demo').then((answer) => keyCreated.parse(answer)),
    admin('billing', 'activate', ...team),
    admin('wallet', 'top-up', ...team, '--cents', String(topUpCents), '--reference', 'demo'),
  ]);
  return { teamId, apiKey };
}
