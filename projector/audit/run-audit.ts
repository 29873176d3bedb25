import pg from 'pg';
import { type Config, ConfigError } from '#infra/config.ts';
import { resolveConfig, ServiceNotRunning } from '#infra/embedded/resolve-config.ts';
import { connectKafka } from '#infra/kafka/connection.ts';
import { KafkaFailure } from '#infra/kafka/kafka-failure.ts';
import { createLogger } from '#infra/log.ts';
import { openPool } from '#infra/postgres/pool.ts';
import { isTableMissing } from '../watch-database.ts';
import { type AuditRequest, helpTexts, parseAuditOptions, UsageError } from './audit-options.ts';
import { faultJson, faultLines } from './fault.ts';
import { statementCsv, statementTable } from './statement-text.ts';
import { type VerifyReport, verifyLog } from './verify-log.ts';
import { readStatement } from './wallet-statement.ts';

/** 130 is what shells give to a command that Ctrl-C ended. */
const exitCode = { right: 0, wrong: 1, usage: 2, unreachable: 3, noWallet: 4, interrupted: 130 } as const;

export type AuditOutput = Readonly<{ out: (text: string) => void; error: (text: string) => void }>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Runs the command line `args`; returns the exit code. */
export async function runAudit(
  args: readonly string[],
  surroundings: {
    readonly env: Environment;
    readonly isTerminal: boolean;
    readonly output: AuditOutput;
    readonly signal: AbortSignal;
  },
): Promise<number> {
  const { env, isTerminal, output, signal } = surroundings;
  try {
    const request = parseAuditOptions(args, isTerminal);
    switch (request.command) {
      case 'help':
        output.out(`${helpTexts[request.about]}\n`);
        return exitCode.right;
      case 'wallet':
        return await auditWallet(request, env, output, signal);
      case 'verify':
        return await auditVerify(request, env, output, signal);
    }
  } catch (error) {
    return signal.aborted ? exitCode.interrupted : reportFailure(error, args, output);
  }
}

async function auditWallet(
  request: Extract<AuditRequest, { command: 'wallet' }>,
  env: Environment,
  output: AuditOutput,
  signal: AbortSignal,
): Promise<number> {
  const config = await resolveConfig(env, ['KAFKA_BROKERS']);
  const statement = await readStatement(auditKafka(config), { ...request, signal });
  if (statement === undefined) {
    const when = request.asOfMs === undefined ? '' : ` as of ${new Date(request.asOfMs).toISOString()}`;
    output.error(`Team ${request.teamId} has no wallet in the log${when}.\n`);
    return exitCode.noWallet;
  }
  if (request.format === 'json')
    output.out(
      `${JSON.stringify({ ...statement, fault: statement.fault === null ? null : faultJson(statement.fault) })}\n`,
    );
  else output.out(request.format === 'csv' ? statementCsv(statement) : statementTable(statement));
  if (statement.fault === null) return exitCode.right;
  if (request.format !== 'table') output.error(`${faultLines(statement.fault).join('\n')}\n`);
  return exitCode.wrong;
}

async function auditVerify(
  request: Extract<AuditRequest, { command: 'verify' }>,
  env: Environment,
  output: AuditOutput,
  signal: AbortSignal,
): Promise<number> {
  const { comparePostgres, format } = request;
  const config = await resolveConfig(
    env,
    comparePostgres ? ['KAFKA_BROKERS', 'DATABASE_URL'] : ['KAFKA_BROKERS'],
  );
  const report = await (comparePostgres
    ? verifyWithPostgres(config, signal)
    : verifyLog(auditKafka(config), undefined, signal));
  output.out(format === 'json' ? `${JSON.stringify(reportJson(report))}\n` : reportText(report));
  const [first] = report.faults;
  if (first !== undefined && format === 'json') output.error(`${faultLines(first).join('\n')}\n`);
  return report.ok ? exitCode.right : exitCode.wrong;
}

async function verifyWithPostgres(config: Config, signal: AbortSignal): Promise<VerifyReport> {
  const pool = openPool(
    { ...config, DATABASE_POOL_SIZE: 1 },
    createLogger(config, 'audit'),
    'clipledger-audit',
  );
  const client = await pool.connect().catch(async (error: unknown) => {
    await pool.end();
    throw new DatabaseUnreachable(error);
  });
  let broken = false;
  try {
    return await verifyLog(auditKafka(config), client, signal);
  } catch (error) {
    broken = true;
    if (isTableMissing(error)) throw new DatabaseUnreachable(error);
    if (error instanceof KafkaFailure || error instanceof ConfigError) throw error;
    throw error instanceof pg.DatabaseError || isConnectionLoss(error)
      ? new DatabaseUnreachable(error)
      : error;
  } finally {
    client.release(broken);
    await pool.end();
  }
}

const isConnectionLoss = (error: unknown): boolean =>
  error instanceof Error && /connection|ECONN|timeout/i.test(error.message);

/** Postgres does not answer, or has no read model. */
class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';

  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `Postgres cannot be read: ${reason}. Start it and the projector, or check the log alone with --kafka-only.`,
      { cause },
    );
  }
}

/** kafkajs retries by itself; what it says about each try is for debugging. */
const auditKafka = (config: Config) =>
  connectKafka(config, {
    clientId: 'clipledger-audit',
    log: createLogger({ LOG_LEVEL: config.LOG_LEVEL === 'info' ? 'error' : config.LOG_LEVEL }, 'audit'),
  });

const reportJson = ({ balanceCents, faults, ...report }: VerifyReport) => ({
  ...report,
  balance_cents: balanceCents,
  faults: faults.map(faultJson),
});

/** Faults listed in full; the JSON has them all. */
const SHOWN_FAULTS = 20;

function reportText(report: VerifyReport): string {
  const rows = report.postgres === 'compared' ? ', and Postgres agrees' : '';
  if (report.ok)
    return `All right: ${report.events} events of ${report.teams} teams in ${report.seconds} s${rows}.\n`;
  const shown = report.faults.slice(0, SHOWN_FAULTS).flatMap(faultLines);
  const more = report.faults.length - SHOWN_FAULTS;
  const rest = more > 0 ? [`… and ${more} more; --json lists all.`] : [];
  return `${[`WRONG, ${report.faults.length} found in ${report.events} events:`, ...shown, ...rest].join('\n')}\n`;
}

const helpCall = ([word]: readonly string[]): string =>
  ['npm run audit --', ...(word === 'wallet' || word === 'verify' ? [word] : []), '--help'].join(' ');

function reportFailure(error: unknown, args: readonly string[], output: AuditOutput): number {
  if (error instanceof UsageError) {
    output.error(`${error.message} See \`${helpCall(args)}\`.\n`);
    return exitCode.usage;
  }
  if (error instanceof ServiceNotRunning) {
    output.error(`${error.message}\n`);
    return exitCode.unreachable;
  }
  if (error instanceof ConfigError) {
    output.error(`${error.message}\n`);
    return exitCode.usage;
  }
  if (error instanceof KafkaFailure || error instanceof DatabaseUnreachable) {
    output.error(`${error.message}\n`);
    return exitCode.unreachable;
  }
  throw error;
}
