import type { ParseArgsOptionsConfig } from 'node:util';
import type { Operator } from './operator.ts';

/** What a command found or did: `json` for machines, `lines` for people. */
export type Outcome = Readonly<{ json: unknown; lines: readonly string[] }>;

/** The options of one call, as parsed. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** One command of the operator's CLI. */
export type AdminCommand = Readonly<{
  /** What is typed, such as `team create`. */
  name: string;
  summary: string;
  /** The options' lines in the help. */
  usage: readonly string[];
  options: ParseArgsOptionsConfig;
  /** The name of the one argument after the command's name, where it takes one. */
  argument?: string;
  run: (options: Options, operator: Operator, argument: string) => Promise<Outcome>;
}>;

/** The call is not as the help says. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The text of an option that must be given. */
export function requiredText(options: Options, name: string): string {
  const value = options[name];
  if (typeof value !== 'string') throw new UsageError(`--${name} is missing.`);
  if (value.trim() === '') throw new UsageError(`--${name} is blank; it needs a value.`);
  return value;
}

/** A whole number that must be given. */
export function requiredInteger(options: Options, name: string): number {
  const text = requiredText(options, name);
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < 1)
    throw new UsageError(`--${name} must be a whole number from 1, not ${text}.`);
  return number;
}

/** A name: 1 to 200 characters, without control characters. */
export function requiredName(options: Options, name: string): string {
  const text = requiredText(options, name);
  if (text.length > 200 || /\p{Cc}/u.test(text))
    throw new UsageError(`--${name} must have 1 to 200 characters and no control characters.`);
  return text;
}

/** Rows as aligned columns under their names. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => (row[index] ?? '').length)),
  );
  return [columns, ...rows].map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** 2000 as `$20.00`. */
export const dollars = (cents: number): string =>
  `${cents < 0 ? '-' : ''}$${(Math.abs(cents) / 100).toFixed(2)}`;
