import { CommandLineError, readCommandLine } from '#infra/command-line.ts';
import { ConfigError } from '#infra/config.ts';
import { resolveConfig } from '#infra/embedded/resolve-config.ts';
import { KafkaFailure } from '#infra/kafka/kafka-failure.ts';
import { DatabaseUnavailable } from '../database.ts';
import { cancelCommands } from './cancel-command.ts';
import { type AdminCommand, UsageError } from './command.ts';
import { deadCommands } from './dead-commands.ts';
import { jobCommands } from './job-commands.ts';
import { keyCommands } from './key-commands.ts';
import { Operator, Refused } from './operator.ts';
import { rebuildCommands } from './rebuild-command.ts';
import { teamCommands } from './team-commands.ts';
import { webhookCommands } from './webhook-commands.ts';

const commands: readonly AdminCommand[] = [
  ...teamCommands,
  ...keyCommands,
  ...jobCommands,
  ...cancelCommands,
  ...webhookCommands,
  ...deadCommands,
  ...rebuildCommands,
];
const commonOptions = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

/**
 * Runs the operator's command in `words` and gives its exit code: 0 done, 1 refused or not possible, 2 not
 * called right. Answers go to stdout (JSON with `--json` or when it is no terminal), all else to stderr.
 */
export async function runAdmin(words: readonly string[]): Promise<number> {
  try {
    return await runCommand(words);
  } catch (error) {
    if (error instanceof UsageError || error instanceof CommandLineError)
      return complain(`${error.message} See \`${helpCall(commandIn(words))}\`.`, 2);
    if (error instanceof Refused || error instanceof ConfigError) return complain(error.message, 1);
    if (error instanceof DatabaseUnavailable)
      return complain(`${error.message} ${messageOf(error.cause)} Is the service running?`, 1);
    if (error instanceof KafkaFailure) return complain(`${error.message} Is the service running?`, 1);
    throw error;
  }
}

const commandIn = (words: readonly string[]): AdminCommand | undefined =>
  commands.find(({ name }) => words.slice(0, name.split(' ').length).join(' ') === name);

async function runCommand(words: readonly string[]): Promise<number> {
  const command = commandIn(words);
  if (words.length === 0 || isHelp(words)) {
    process.stdout.write(`${helpText(command)}\n`);
    return 0;
  }
  if (command === undefined) throw new UsageError(`There is no command \`${words.join(' ')}\`.`);
  const { options: values, words: positionals } = readCommandLine(
    words.slice(command.name.split(' ').length),
    {
      ...commonOptions,
      ...command.options,
    },
  );
  const argument = soleArgument(command, positionals);
  const operator = new Operator(await resolveConfig(process.env, ['KAFKA_BROKERS', 'DATABASE_URL']));
  try {
    const { json, lines } = await command.run(values, operator, argument);
    const isJson = values['json'] === true || !process.stdout.isTTY;
    process.stdout.write(isJson ? `${JSON.stringify(json)}\n` : `${lines.join('\n')}\n`);
    return 0;
  } finally {
    await operator.close();
  }
}

function soleArgument(command: AdminCommand, positionals: readonly string[]): string {
  const [argument = '', ...more] = positionals;
  const wanted = command.argument === undefined ? 0 : 1;
  if (more.length > 0 || positionals.length > wanted)
    throw new UsageError(`\`${command.name}\` does not take \`${positionals.join(' ')}\`.`);
  if (positionals.length < wanted) throw new UsageError(`${command.argument} is missing.`);
  return argument;
}

const isHelp = (words: readonly string[]): boolean => words.includes('--help') || words.includes('-h');

const helpCall = (command: AdminCommand | undefined): string =>
  ['npm run admin --', ...(command === undefined ? [] : [command.name]), '--help'].join(' ');

function helpText(command: AdminCommand | undefined): string {
  const common = ['--json   print JSON (the default when stdout is no terminal)', '--help   print this'];
  if (command !== undefined)
    return [
      `npm run admin -- ${command.name}`,
      command.summary,
      '',
      ...[...command.usage, ...common].map(indent),
    ].join('\n');
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'npm run admin -- COMMAND [OPTIONS]',
    '',
    ...commands.map(({ name, summary }) => indent(`${name.padEnd(width)}  ${summary}`)),
    '',
    'COMMAND --help shows the options of a command. For every command:',
    ...common.map(indent),
    '',
    'The service is found by KAFKA_BROKERS and DATABASE_URL, or running on DATA_DIR (.data).',
  ].join('\n');
}

const indent = (line: string): string => `  ${line}`;

function complain(message: string, exitCode: number): number {
  process.stderr.write(`${message}\n`);
  return exitCode;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
