import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** The command line is not as the help says; `message` names the word that is wrong. */
export class CommandLineError extends Error {
  override readonly name = 'CommandLineError';
}

/** The options that were given, by name, and the words that are none. */
export type CommandLine = Readonly<{
  options: Readonly<Record<string, string | true>>;
  words: readonly string[];
}>;

type Token = ReturnType<typeof tokensOf>[number];
type OptionToken = Extract<Token, { kind: 'option' }>;

/**
 * Reads `args` by the options that there are. A value may begin with a dash (`--cents -500`), so that whoever
 * checks it can say what it must be. Throws `CommandLineError`.
 */
export function readCommandLine(args: readonly string[], known: ParseArgsOptionsConfig): CommandLine {
  const options: Record<string, string | true> = {};
  const words: string[] = [];
  for (const token of tokensOf(args, known)) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    if (Object.hasOwn(options, token.name))
      throw new CommandLineError(`--${token.name} is given twice; give it once.`);
    options[token.name] = optionValue(token, known);
  }
  return { options, words };
}

function tokensOf(args: readonly string[], options: ParseArgsOptionsConfig) {
  // Node's own strictness would say what is wrong in the words of its library.
  return parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true }).tokens;
}

function optionValue({ name, rawName, value, inlineValue }: OptionToken, known: ParseArgsOptionsConfig) {
  const option = Object.hasOwn(known, name) ? known[name] : undefined;
  if (option === undefined) throw new CommandLineError(`There is no option ${rawName} here.`);
  if (option.type === 'boolean') {
    if (value !== undefined) throw new CommandLineError(`--${name} takes no value, so not ${value} either.`);
    return true;
  }
  if (value === undefined || value === '') throw new CommandLineError(`--${name} needs a value.`);
  if (inlineValue === false && value.startsWith('--'))
    throw new CommandLineError(`--${name} needs a value, and ${value} is an option.`);
  return value;
}
