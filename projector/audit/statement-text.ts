import { faultLines } from './fault.ts';
import type { StatementLine, WalletStatement } from './wallet-statement.ts';

/** A statement as text, for people and for spreadsheets. */

const columns = [
  'seq',
  'occurred_at',
  'event',
  'amount_cents',
  'balance_cents',
  'job_id',
  'item',
  'reference',
  'reason',
  'actor',
  'event_id',
] as const satisfies readonly (keyof StatementLine)[];

/** RFC 4180, amounts in cents; every column of the JSON. */
export function statementCsv({ lines }: WalletStatement): string {
  const rows = lines.map((line) => columns.map((column) => csvField(line[column])).join(','));
  return [columns.join(','), ...rows].map((row) => `${row}\r\n`).join('');
}

/**
 * Text that a spreadsheet would run as a formula is led by an apostrophe; references come from outside.
 */
function csvField(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const inert = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** Lines in columns, dollars and cents, then the totals. */
export function statementTable(statement: WalletStatement): string {
  const header = ['seq', 'time', 'event', 'amount', 'balance', 'about'];
  const rows = statement.lines.map((line) => [
    String(line.seq),
    line.occurred_at,
    line.event,
    line.amount_cents === 0 ? '' : signedDollars(line.amount_cents),
    dollars(line.balance_cents),
    aboutLine(line),
  ]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const isNumber = (column: number) => column === 0 || column === 3 || column === 4;
  const lines = [header, ...rows].map((row) =>
    row
      .map((cell, column) =>
        isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return `${[...lines, '', ...totalLines(statement)].join('\n')}\n`;
}

function totalLines(statement: WalletStatement): readonly string[] {
  const asOf = statement.as_of === null ? '' : ` as of ${statement.as_of}`;
  return [
    `team ${statement.team_id}${asOf}: balance ${dollars(statement.balance_cents)}, billing ${statement.active ? 'active' : 'inactive'}`,
    `topped up ${dollars(statement.topped_up_cents)}; debited ${dollars(statement.debited_cents)} gross, ` +
      `of which refunded ${dollars(statement.refunded_cents)} and captured ${dollars(statement.captured_cents)}`,
    statement.fault === null
      ? `the chain of ${statement.lines.length} events is whole`
      : ['THE LOG IS WRONG:', ...faultLines(statement.fault)].join('\n'),
  ];
}

function aboutLine({ job_id, item, reference, reason }: StatementLine): string {
  const parts = [
    job_id === null ? undefined : `job ${job_id}`,
    item === null ? undefined : `item ${item}`,
    reference === null ? undefined : `payment ${printable(reference)}`,
    reason === null ? undefined : printable(reason),
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

/** References come from outside: a control character must not reach the terminal. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, '\uFFFD');

const signedDollars = (cents: number): string => (cents > 0 ? `+${dollars(cents)}` : dollars(cents));

/** Exact, from integers: -1205 is -$12.05. */
function dollars(cents: number): string {
  const absolute = Math.abs(cents);
  const whole = Math.floor(absolute / 100);
  return `${cents < 0 ? '-' : ''}$${whole}.${String(absolute % 100).padStart(2, '0')}`;
}
