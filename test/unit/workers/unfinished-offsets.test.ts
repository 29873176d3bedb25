import { describe, expect, test } from 'vitest';
import { seededRandom } from '#test/seeded-random.ts';
import { UnfinishedOffsets } from '#workers/runtime/unfinished-offsets.ts';

function given(...taken: readonly number[]): UnfinishedOffsets {
  const offsets = new UnfinishedOffsets();
  for (const offset of taken) offsets.take(offset);
  return offsets;
}

describe('the offset to commit', () => {
  test('is undefined before anything was taken', () => {
    expect(given().uncommittedPosition()).toBeUndefined();
  });

  test('is the lowest unfinished one, whatever finished above it', () => {
    const offsets = given(5, 6, 7, 8);
    offsets.finish(6);
    offsets.finish(8);
    expect(offsets.uncommittedPosition()).toBe(5);
    offsets.finish(5);
    expect(offsets.uncommittedPosition()).toBe(7);
  });

  test('is the end of what was taken once all is finished', () => {
    const offsets = given(5, 6);
    offsets.finish(6);
    offsets.finish(5);
    expect(offsets.uncommittedPosition()).toBe(7);
  });

  test('passes over offsets without records when nothing below is unfinished', () => {
    const offsets = given(5);
    offsets.passTo(9);
    expect(offsets.uncommittedPosition()).toBe(5);
    offsets.finish(5);
    expect(offsets.uncommittedPosition()).toBe(9);
  });

  test('is given once for each change', () => {
    const offsets = given(5, 6);
    offsets.finish(5);
    offsets.markCommitted(6);
    expect(offsets.uncommittedPosition()).toBeUndefined();
    offsets.finish(6);
    expect(offsets.uncommittedPosition()).toBe(7);
  });

  test('is given again when what the broker holds is in doubt', () => {
    const offsets = given(5);
    offsets.markCommitted(5);
    offsets.forgetCommit();
    expect(offsets.uncommittedPosition()).toBe(5);
  });
});

describe('a record that is delivered again', () => {
  test('is not taken twice while it runs', () => {
    const offsets = given(5, 6);
    expect(offsets.take(5)).toBe(false);
    expect(offsets.count).toBe(2);
  });

  test('is not taken again after it finished', () => {
    const offsets = given(5, 6);
    offsets.finish(6);
    expect(offsets.take(6)).toBe(false);
    expect(offsets.take(7)).toBe(true);
  });
});

test('any order of finishing never commits past an unfinished record', () => {
  const random = seededRandom(7);
  for (let round = 0; round < 200; round += 1) {
    const open = new Set(Array.from({ length: 30 }, (_, offset) => offset));
    const offsets = given(...open);
    while (open.size > 0) {
      const finished = [...open][Math.floor(random() * open.size)] ?? 0;
      open.delete(finished);
      offsets.finish(finished);
      const position = offsets.uncommittedPosition();
      const expected = Math.min(...open, 30);
      if (position !== undefined) {
        expect(position).toBe(expected);
        offsets.markCommitted(position);
      }
    }
    expect(offsets.uncommittedPosition()).toBeUndefined();
  }
});
