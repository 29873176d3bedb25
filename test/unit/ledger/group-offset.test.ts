import { describe, expect, test } from 'vitest';
import { GroupOffset } from '#api/ledger/group-offset.ts';

describe('the group’s offset', () => {
  test('is told with the first transaction, and then once a second', () => {
    const offset = new GroupOffset();
    expect(offset.isDue(1, 10_000)).toBe(true);
    offset.told(1, 10_000);
    expect(offset.isDue(2, 10_999)).toBe(false);
    expect(offset.isDue(2, 11_000)).toBe(true);
  });

  test('is told with every refusal, which leaves no event to know it by', () => {
    const offset = new GroupOffset();
    offset.told(1, 10_000);
    expect(offset.isDue(2, 10_001, { hasRefusals: true })).toBe(true);
  });

  test('is not told again', () => {
    const offset = new GroupOffset();
    offset.told(1, 10_000);
    expect(offset.isDue(1, 99_000)).toBe(false);
  });
});
