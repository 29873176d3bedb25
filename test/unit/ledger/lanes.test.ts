import { describe, expect, test } from 'vitest';
import { inTurns } from '#api/ledger/lane-decider.ts';
import { partitionsOfLane, transactionalIdOf } from '#api/ledger/lanes.ts';
import { laneCountOf, OtherShape } from '#api/ledger/ledger-shape.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';

const embedded = { KAFKA_TOPIC_PROFILE: 'embedded' } as const;
const production = { KAFKA_TOPIC_PROFILE: 'production' } as const;
const begunWith = (lane_count: number | null) => ({ lane_count, partition_count: 3 });

describe('lanes', () => {
  test.each([1, 2, 3, 5, 24])('%i of them share 24 partitions, each in one lane', (laneCount) => {
    const lanes = Array.from({ length: laneCount }, (_, lane) => partitionsOfLane(lane, laneCount, 24));
    expect(lanes.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, at) => at));
    for (const [lane, partitions] of lanes.entries()) expect(partitions[0]).toBe(lane);
  });

  test('have the transactional id that their lowest partition had before there were lanes', () => {
    expect(transactionalIdOf(2)).toBe('ledger-2');
  });
});

describe('the number of lanes', () => {
  test('of a new log is one on the embedded stack, one for each partition on a cluster', () => {
    expect(laneCountOf(embedded, 3, [])).toBe(1);
    expect(laneCountOf(production, 24, [])).toBe(24);
  });

  test('of a new log is what the settings say', () => {
    expect(laneCountOf({ ...production, LEDGER_LANES: 6 }, 24, [])).toBe(6);
  });

  test('cannot be more than there are partitions', () => {
    expect(() => laneCountOf({ ...embedded, LEDGER_LANES: 4 }, 3, [])).toThrow(/set it to 3 at most/);
  });

  test('is what the log began with, whatever the default', () => {
    expect(laneCountOf(embedded, 3, [begunWith(2), begunWith(2)])).toBe(2);
    expect(laneCountOf({ ...embedded, LEDGER_LANES: 2 }, 3, [begunWith(2)])).toBe(2);
  });

  test('was one for each partition before there were lanes', () => {
    expect(laneCountOf(embedded, 3, [begunWith(null)])).toBe(3);
  });

  test('is refused when it is another than the log began with, and the refusal says what to set', () => {
    const settings = { ...embedded, LEDGER_LANES: 3 };
    expect(() => laneCountOf(settings, 3, [begunWith(1)])).toThrow(OtherShape);
    expect(() => laneCountOf(settings, 3, [begunWith(1)])).toThrow(/Set LEDGER_LANES to 1 or leave it out/);
  });

  test('is refused when the first owners did not agree on it', () => {
    expect(() => laneCountOf(embedded, 3, [begunWith(1), begunWith(3)])).toThrow(/1 and 3 lanes/);
  });
});

test('a lane’s partitions take turns, each in its own order', () => {
  const partition = (number: number, ...offsets: readonly number[]) =>
    offsets.map((offset) => ({ partition: number, offset }) as ReadRecord);
  const taken = [...inTurns([partition(0, 1, 2, 3), partition(1, 7), partition(2)])];
  expect(taken.map((record) => [record.partition, record.offset])).toEqual([
    [0, 1],
    [1, 7],
    [0, 2],
    [0, 3],
  ]);
});
