import { describe, expect, test } from 'vitest';
import { GroupOffsets } from '#api/ledger/group-offsets.ts';

const decided = (...offsets: readonly number[]) => new Map(offsets.entries());
const nothing = new Map();

describe('the group’s offsets', () => {
  test('are told with the first transaction, and then once a second', () => {
    const offsets = new GroupOffsets();
    expect(offsets.due(decided(1, 5), 10_000)).toEqual(decided(1, 5));
    offsets.told(decided(1, 5), 10_000);
    expect(offsets.due(decided(2, 6), 10_999)).toEqual(nothing);
    expect(offsets.due(decided(2, 6), 11_000)).toEqual(decided(2, 6));
  });

  test('are told with every refusal, which leaves no event to know it by', () => {
    const offsets = new GroupOffsets();
    offsets.told(decided(1), 10_000);
    expect(offsets.due(decided(2), 10_001, { hasRefusals: true })).toEqual(decided(2));
  });

  test('are not told again where nothing was decided since', () => {
    const offsets = new GroupOffsets();
    offsets.told(decided(1, 5), 10_000);
    expect(offsets.due(decided(1, 6), 99_000)).toEqual(new Map([[1, 6]]));
    expect(offsets.due(decided(1, 5), 99_000, { hasRefusals: true })).toEqual(nothing);
  });
});
