import { randomUUID } from 'node:crypto';
import { queryRows } from '../database.ts';
import { readSigningVersions } from '../webhooks/secret-rotations.ts';
import { shownSecret } from '../webhooks/signature.ts';
import { OVERLAP_MS, teamSecret } from '../webhooks/team-secrets.ts';
import { type AdminCommand, type Outcome, requiredInteger } from './command.ts';
import { type Operator, Refused } from './operator.ts';
import { refusal } from './team-commands.ts';

/** The secrets that teams verify webhooks with. */

const secret: AdminCommand = {
  name: 'webhook secret',
  summary: "Show the secret that a team's webhooks are signed with, or make a new one.",
  usage: ['--team ID', '--rotate   make a new one; for 24 hours the one before signs as well'],
  options: { team: { type: 'string' }, rotate: { type: 'boolean' } },
  run: async (options, operator) => {
    const teamId = requiredInteger(options, 'team');
    const masterKey = masterKeyOf(operator);
    return options['rotate'] === true
      ? rotateSecret(teamId, masterKey, operator)
      : showSecret(teamId, masterKey, operator);
  },
};

function masterKeyOf({ config }: Operator): Buffer {
  if (config.WEBHOOK_MASTER_KEY !== undefined) return config.WEBHOOK_MASTER_KEY;
  throw new Refused(
    'WEBHOOK_MASTER_KEY is not set: give it the value that the api has, for every secret derives from it.',
  );
}

async function rotateSecret(teamId: number, masterKey: Buffer, operator: Operator): Promise<Outcome> {
  const version = randomUUID();
  const reply = await operator.submit({
    name: 'RotateWebhookSecret',
    value: { ...operator.envelope(teamId), version },
  });
  if (reply.refusal !== null) throw refusal(reply, teamId);
  const validUntil = new Date(reply.decided_at + OVERLAP_MS);
  return outcome({ teamId, version, secret: teamSecret(masterKey, teamId, version), validUntil });
}

async function showSecret(teamId: number, masterKey: Buffer, operator: Operator): Promise<Outcome> {
  const teams = await queryRows(operator.pool, 'SELECT FROM read_model.teams WHERE team_id = $1', [teamId]);
  if (teams.length === 0)
    throw new Refused(`There is no team ${teamId}; \`team list\` shows those that exist.`);
  const [newest, before] = await readSigningVersions(operator.pool, teamId, new Date());
  const { version } = newest;
  return outcome({
    teamId,
    version,
    secret: teamSecret(masterKey, teamId, version),
    validUntil: before?.validUntil ?? null,
  });
}

function outcome(found: {
  readonly teamId: number;
  readonly version: string;
  readonly secret: Buffer;
  /** Until when the one before signs as well. */
  readonly validUntil: Date | null;
}): Outcome {
  const { teamId, version, validUntil } = found;
  const shown = shownSecret(found.secret);
  const overlap =
    validUntil === null ? [] : [`The one before signs as well until ${validUntil.toISOString()}.`];
  return {
    json: {
      team_id: teamId,
      secret: shown,
      version,
      previous_valid_until: validUntil?.toISOString() ?? null,
    },
    lines: [`Webhooks of team ${teamId} are signed with:`, shown, ...overlap],
  };
}

export const webhookCommands: readonly AdminCommand[] = [secret];
