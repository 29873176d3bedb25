import { expect, test } from 'vitest';
import { statementCsv, statementTable } from '#projector/audit/statement-text.ts';
import type { StatementLine, WalletStatement } from '#projector/audit/wallet-statement.ts';

const line = (changes: Partial<StatementLine>): StatementLine => ({
  seq: 1,
  occurred_at: '2026-01-01T00:00:00.000Z',
  event: 'WalletToppedUp',
  amount_cents: 2_005,
  balance_cents: 2_005,
  job_id: null,
  item: null,
  reference: null,
  reason: null,
  actor: 'operator:ann',
  event_id: 'e1',
  ...changes,
});

const statement = (lines: readonly StatementLine[]): WalletStatement => ({
  team_id: 1,
  as_of: null,
  active: true,
  balance_cents: -1_205,
  topped_up_cents: 2_005,
  debited_cents: 150,
  refunded_cents: 0,
  captured_cents: 150,
  lines,
  fault: null,
});

test('CSV quotes what would end a field, and disarms what a spreadsheet would run', () => {
  const csv = statementCsv(statement([line({ reference: 'a,"b"' }), line({ reference: '=HYPERLINK()' })]));
  expect(csv).toContain(',"a,""b""",');
  expect(csv).toContain(`,'=HYPERLINK(),`);
  expect(csv).toContain(',2005,2005,');
});

test('a table shows dollars and cents, and no control characters', () => {
  const table = statementTable(statement([line({ reference: 'a\u001b[31m' })]));
  expect(table).toContain('+$20.05');
  expect(table).toContain('balance -$12.05');
  expect(table).not.toContain('\u001b');
});
