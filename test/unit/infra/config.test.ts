import { describe, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';

describe('numbers in settings', () => {
  test.each(['0', '-1', '1.5', 'x', ' '])('a limit of %j requests is refused with what it must be', (value) =>
    expect(() => parseConfig({ RATE_LIMIT_PER_MINUTE: value })).toThrow(
      'RATE_LIMIT_PER_MINUTE: must be a whole number, 1 or more',
    ),
  );

  test.each(['1', '060'])('a limit of %j requests is taken', (value) =>
    expect(parseConfig({ RATE_LIMIT_PER_MINUTE: value }).RATE_LIMIT_PER_MINUTE).toBe(Number(value)),
  );

  test('a port may be 0, which is any', () => {
    expect(parseConfig({ PORT: '0' }).PORT).toBe(0);
    expect(() => parseConfig({ PORT: '-1' })).toThrow('PORT: must be a whole number, 0 or more');
  });
});
