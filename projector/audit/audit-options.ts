import { CommandLineError, readCommandLine } from '#infra/command-line.ts';

/** What the command line asks for. */
export type AuditRequest =
  | Readonly<{ command: 'help'; about: 'audit' | 'wallet' | 'verify' }>
  | Readonly<{ command: 'wallet'; teamId: number; asOfMs: number | undefined; format: Format }>
  | Readonly<{ command: 'verify'; comparePostgres: boolean; format: 'text' | 'json' }>;
export type Format = 'table' | 'csv' | 'json';

/** The command line is wrong; `message` says what it must be. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const exitCodes = `
Exit codes:
  0  all is right
  1  something is wrong: the first wrong event is named
  2  the command line or a setting is wrong
  3  Kafka or Postgres cannot be reached, or nothing runs
  4  the team has no wallet in the log`;

export const helpTexts: Readonly<Record<'audit' | 'wallet' | 'verify', string>> = {
  audit: `npm run audit -- wallet --team ID [--as-of TIME] [--format table|csv|json]
    Replays a wallet from Kafka alone, with the balance after each event.
npm run audit -- verify [--kafka-only] [--json]
    Checks every chain and balance in Kafka, and the rows in Postgres against them.

Where Kafka and Postgres are: KAFKA_BROKERS (with KAFKA_TOPIC_PREFIX, KAFKA_SSL, KAFKA_SASL_*) and
DATABASE_URL, else the service that runs here. \`npm run audit -- COMMAND --help\` says more.
${exitCodes}`,
  wallet: `npm run audit -- wallet --team ID [--as-of TIME] [--format table|csv|json] [--json]
    Replays the wallet of a team from Kafka alone; Postgres is not needed. The chain is checked while it is
    read: after a wrong event nothing more is shown, and the exit code is 1.

  --team ID       the team
  --as-of TIME    what had happened by then: ISO 8601, such as 2026-01-31 (its first moment, UTC)
                  or 2026-01-31T12:00:00+01:00
  --format NAME   table (in a terminal), json (otherwise), or csv
  --json          the same as --format json
${exitCodes}`,
  verify: `npm run audit -- verify [--kafka-only] [--json]
    Replays the whole log: seals, chains, order, stated balances, no balance below zero, refunds and captures
    within their charges, a job for each charge and a charge for each job. Then compares the rows in Postgres
    with the log, up to the offsets recorded beside them; the service may be at work meanwhile.

  --kafka-only    leave Postgres alone
  --json          JSON, as when the output is no terminal
${exitCodes}`,
};

/** The request in `args`. Throws `UsageError`. */
export function parseAuditOptions(args: readonly string[], isTerminal: boolean): AuditRequest {
  const { values, positionals } = parse(args);
  const [command, ...rest] = positionals;
  const about = command === 'wallet' || command === 'verify' ? command : 'audit';
  if (values.help === true || command === undefined) return { command: 'help', about };
  if (about === 'audit') throw new UsageError(`There is no command ${command}: it is wallet or verify.`);
  if (rest.length > 0) throw new UsageError(`${rest.join(' ')} is too much: ${about} takes options only.`);
  return about === 'wallet' ? walletRequest(values, isTerminal) : verifyRequest(values, isTerminal);
}

const auditOptions = {
  help: { type: 'boolean', short: 'h' },
  team: { type: 'string' },
  'as-of': { type: 'string' },
  format: { type: 'string' },
  json: { type: 'boolean' },
  'kafka-only': { type: 'boolean' },
} as const;

type Values = Readonly<Partial<Record<keyof typeof auditOptions, string | true>>>;

function parse(args: readonly string[]): Readonly<{ values: Values; positionals: readonly string[] }> {
  try {
    const { options, words } = readCommandLine(args, auditOptions);
    return { values: options, positionals: words };
  } catch (error) {
    throw error instanceof CommandLineError ? new UsageError(error.message) : error;
  }
}

function walletRequest(values: Values, isTerminal: boolean): AuditRequest {
  if (values['kafka-only'] === true)
    throw new UsageError('--kafka-only belongs to verify; wallet never asks Postgres.');
  return {
    command: 'wallet',
    teamId: parseTeam(values.team),
    asOfMs: parseTime(values['as-of']),
    format: values.json === true ? 'json' : parseFormat(values.format, isTerminal),
  };
}

function verifyRequest(values: Values, isTerminal: boolean): AuditRequest {
  for (const name of ['team', 'as-of', 'format'] as const)
    if (values[name] !== undefined)
      throw new UsageError(`--${name} belongs to wallet; verify checks everything.`);
  return {
    command: 'verify',
    comparePostgres: values['kafka-only'] !== true,
    format: values.json === true || !isTerminal ? 'json' : 'text',
  };
}

function parseTeam(text: string | true | undefined): number {
  const teamId = Number(text);
  if (typeof text !== 'string' || !/^\d+$/.test(text) || !Number.isSafeInteger(teamId) || teamId < 1)
    throw new UsageError('--team must be the number of a team, such as --team 1.');
  return teamId;
}

function parseFormat(text: string | true | undefined, isTerminal: boolean): Format {
  if (text === undefined) return isTerminal ? 'table' : 'json';
  if (text === 'table' || text === 'csv' || text === 'json') return text;
  throw new UsageError('--format must be table, csv or json.');
}

const isoTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

function parseTime(text: string | true | undefined): number | undefined {
  if (typeof text !== 'string') return undefined;
  const timeMs = Date.parse(text);
  if (!isoTime.test(text) || Number.isNaN(timeMs))
    throw new UsageError('--as-of must be ISO 8601 with its zone, such as 2026-01-31T12:00:00Z, or a date.');
  return timeMs;
}
