import { describe, expect, test } from 'vitest';
import { parseAuditOptions } from '#projector/audit/audit-options.ts';

const inTerminal = (...args: string[]) => parseAuditOptions(args, true);

describe('the audit’s command line', () => {
  test('shows help for whatever it is asked about', () => {
    expect(inTerminal()).toEqual({ command: 'help', about: 'audit' });
    expect(inTerminal('--help')).toEqual({ command: 'help', about: 'audit' });
    expect(inTerminal('verify', '--help')).toEqual({ command: 'help', about: 'verify' });
  });

  test('prints tables in a terminal and JSON elsewhere, unless told otherwise', () => {
    const args = ['wallet', '--team', '7'];
    expect(parseAuditOptions(args, true)).toMatchObject({ teamId: 7, format: 'table' });
    expect(parseAuditOptions(args, false)).toMatchObject({ format: 'json' });
    expect(parseAuditOptions([...args, '--format', 'csv'], false)).toMatchObject({ format: 'csv' });
    expect(parseAuditOptions(['verify'], false)).toMatchObject({ format: 'json', comparePostgres: true });
    expect(inTerminal('verify', '--json', '--kafka-only')).toMatchObject({
      format: 'json',
      comparePostgres: false,
    });
  });

  test('reads points in time with their zone', () => {
    expect(inTerminal('wallet', '--team', '1', '--as-of', '2026-01-31')).toMatchObject({
      asOfMs: Date.UTC(2026, 0, 31),
    });
    expect(inTerminal('wallet', '--team', '1', '--as-of', '2026-01-31T12:00:00+01:00')).toMatchObject({
      asOfMs: Date.UTC(2026, 0, 31, 11),
    });
  });

  test.each([
    [['pay'], 'There is no command pay'],
    [['wallet'], '--team must be'],
    [['wallet', '--team', '0'], '--team must be'],
    [['wallet', '--team', '1.5'], '--team must be'],
    [['wallet', '--team', '1', '--as-of', 'yesterday'], '--as-of must be'],
    [['wallet', '--team', '1', '--as-of', '2026-01-31T12:00:00'], '--as-of must be'],
    [['wallet', '--team', '1', '--format', 'xml'], '--format must be'],
    [['wallet', '--team', '1', 'more'], 'more is too much'],
    [['verify', '--team', '1'], '--team belongs to wallet'],
    [['verify', '--unknown'], 'There is no option --unknown here.'],
    [['wallet', '--team', '1', '--team', '2'], '--team is given twice'],
  ])('refuses %j', (args, says) => {
    expect(() => inTerminal(...args)).toThrow(says);
  });
});
