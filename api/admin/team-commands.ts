import type pg from 'pg';
import type { CommandReply } from '#schemas/records.ts';
import { queryRows } from '../database.ts';
import { type AdminCommand, dollars, requiredInteger, requiredName, requiredText, table } from './command.ts';
import { type Operator, Refused } from './operator.ts';

/** Teams, their billing and their wallets. */

const MINIMUM_TOP_UP_CENTS = 500;
const MAXIMUM_TOP_UP_CENTS = 1_000_000_000_000;
const REFERENCE_CHARACTERS = 200;
/** Numbers that are taken are skipped at once, so more tries than this mean that something else is wrong. */
const TEAM_ID_TRIES = 100;

const team = { type: 'string' } as const;

const createTeam: AdminCommand = {
  name: 'team create',
  summary: 'Create a team; its billing is inactive and its wallet empty.',
  usage: ['--name NAME     what the team is called'],
  options: { name: { type: 'string' } },
  run: async (options, operator) => {
    const name = requiredName(options, 'name');
    const teamId = await openWallet(name, operator);
    return { json: { team_id: teamId }, lines: [`Team ${teamId} (${name}) was created.`] };
  },
};

/** Takes numbers until one has no wallet: the log knows teams that a new database has not heard of. */
async function openWallet(name: string, operator: Operator): Promise<number> {
  for (let tryNumber = 1; tryNumber <= TEAM_ID_TRIES; tryNumber += 1) {
    const teamId = await nextTeamId(operator.pool);
    const reply = await operator.submit({
      name: 'CreateTeam',
      value: { ...operator.envelope(teamId), name },
    });
    if (reply.refusal === null) return teamId;
    if (reply.refusal !== 'WalletExists') throw refusal(reply, teamId);
    await skipKnownTeamIds(operator.pool, teamId);
  }
  throw new Refused(`No free team id was found in ${TEAM_ID_TRIES} tries.`);
}

async function nextTeamId(pool: pg.Pool): Promise<number> {
  const [row] = await queryRows<{ team_id: number }>(
    pool,
    `SELECT nextval('service.team_ids') AS team_id`,
    [],
  );
  if (row === undefined) throw new Error('The sequence of team ids gave no number.');
  return row.team_id;
}

async function skipKnownTeamIds(pool: pg.Pool, takenTeamId: number): Promise<void> {
  await queryRows(
    pool,
    `SELECT setval('service.team_ids', greatest($1, (SELECT last_value FROM service.team_ids),
                                                (SELECT max(team_id) FROM read_model.teams)))`,
    [takenTeamId],
  );
}

const setBilling = (word: 'activate' | 'deactivate'): AdminCommand => ({
  name: `billing ${word}`,
  summary: word === 'activate' ? 'Let a team make requests.' : 'Refuse all requests of a team.',
  usage: ['--team ID'],
  options: { team },
  run: async (options, operator) => {
    const teamId = requiredInteger(options, 'team');
    const name = word === 'activate' ? 'ActivateBilling' : 'DeactivateBilling';
    const reply = await operator.submit({ name, value: operator.envelope(teamId) });
    if (reply.refusal !== null) throw refusal(reply, teamId);
    const active = word === 'activate';
    return {
      json: { team_id: teamId, active },
      lines: [`Billing of team ${teamId} is ${active ? 'active' : 'inactive'}.`],
    };
  },
});

const topUp: AdminCommand = {
  name: 'wallet top-up',
  summary: "Add money to a team's wallet; a payment's reference counts once.",
  usage: [
    '--team ID',
    `--cents N       at least ${MINIMUM_TOP_UP_CENTS}`,
    "--reference R   the payment's id; repeating it changes nothing",
  ],
  options: { team, cents: { type: 'string' }, reference: { type: 'string' } },
  run: async (options, operator) => {
    const teamId = requiredInteger(options, 'team');
    const cents = requiredInteger(options, 'cents');
    const reference = requiredText(options, 'reference');
    if (cents < MINIMUM_TOP_UP_CENTS)
      throw new Refused(`A top-up must be at least ${MINIMUM_TOP_UP_CENTS} cents; nothing was added.`);
    if (cents > MAXIMUM_TOP_UP_CENTS || reference.length > REFERENCE_CHARACTERS)
      throw new Refused(
        `A top-up must be at most ${MAXIMUM_TOP_UP_CENTS} cents and its reference at most ${REFERENCE_CHARACTERS} characters.`,
      );
    const value = { ...operator.envelope(teamId), amount_cents: cents, reference };
    const reply = await operator.submit({ name: 'TopUpWallet', value });
    if (reply.refusal !== null) throw refusal(reply, teamId);
    return topUpOutcome(reply, { teamId, reference, askedCents: value.amount_cents });
  },
};

function topUpOutcome(
  reply: CommandReply,
  { teamId, reference, askedCents }: { teamId: number; reference: string; askedCents: number },
) {
  const amountCents = reply.amount_cents ?? 0;
  const balanceCents = reply.balance_cents ?? 0;
  const line = reply.replayed
    ? `The payment ${reference} of ${dollars(amountCents)} had been counted before; nothing was changed.`
    : `${dollars(amountCents)} was added; team ${teamId} has ${dollars(balanceCents)}.`;
  if (amountCents !== askedCents)
    process.stderr.write(
      `The payment ${reference} was counted before with ${dollars(amountCents)}, not ${dollars(askedCents)}; nothing was changed.\n`,
    );
  return {
    json: {
      team_id: teamId,
      reference,
      amount_cents: amountCents,
      balance_cents: balanceCents,
      counted_before: reply.replayed,
    },
    lines: [line],
  };
}

const listTeams: AdminCommand = {
  name: 'team list',
  summary: 'List all teams with their wallets.',
  usage: [],
  options: {},
  run: async (_options, operator) => {
    const rows = await queryRows<{
      team_id: number;
      name: string;
      active: boolean;
      balance_cents: number;
      created_at: Date;
    }>(
      operator.pool,
      `SELECT team.team_id, team.name, coalesce(wallet.active, false) AS active,
              coalesce(wallet.balance_cents, 0) AS balance_cents, team.created_at
       FROM read_model.teams AS team LEFT JOIN read_model.wallets AS wallet USING (team_id) ORDER BY team_id`,
      [],
    );
    const lines = table(
      ['TEAM', 'NAME', 'BILLING', 'BALANCE', 'CREATED'],
      rows.map((row) => [
        String(row.team_id),
        row.name,
        row.active ? 'active' : 'inactive',
        dollars(row.balance_cents),
        row.created_at.toISOString(),
      ]),
    );
    return { json: { teams: rows }, lines };
  },
};

/** A refusal of the ledger in words. */
export function refusal(reply: CommandReply, teamId: number): Refused {
  switch (reply.refusal) {
    case 'WalletNotFound':
      return new Refused(`There is no team ${teamId}; \`team list\` shows those that exist.`);
    case 'ApiKeyNotFound':
      return new Refused('There is no such key; `key list` shows those of a team.');
    case 'DeadlinePassed':
      return new Refused('The ledger was too slow and did nothing; try again.');
    default:
      return new Refused(`The ledger refused: ${reply.refusal}.`);
  }
}

export const teamCommands: readonly AdminCommand[] = [
  createTeam,
  listTeams,
  setBilling('activate'),
  setBilling('deactivate'),
  topUp,
];
