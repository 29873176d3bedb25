import { expect, test } from 'vitest';
import { logFreshness } from '#api/log-freshness.ts';

const partitionOf = (key: string) => Number(key);

test('looks at the last record of the partition of the key, or of all partitions that have any', async () => {
  const asked: unknown[] = [];
  const freshness = logFreshness({
    endOffsets: async () => [3, 0, 7],
    partitionOf,
    watch: {
      waitFor: async (positions) => {
        asked.push(positions);
        return true;
      },
    },
  });
  expect(await freshness.check('job.events', '2')).toBe('current');
  expect(await freshness.check('job.events', '1')).toBe('current');
  expect(await freshness.check('job.events')).toBe('current');
  expect(asked).toEqual([
    [{ topic: 'job.events', partition: 2, offset: 6 }],
    [],
    [
      { topic: 'job.events', partition: 0, offset: 2 },
      { topic: 'job.events', partition: 2, offset: 6 },
    ],
  ]);
});

test('rows that do not catch up are behind, a log that fails is unknown', async () => {
  const watch = { waitFor: async () => false };
  const behind = logFreshness({ endOffsets: async () => [1], partitionOf, watch });
  expect(await behind.check('job.events', '0')).toBe('behind');
  const endOffsets = async () => Promise.reject(new Error('no broker'));
  const unknown = logFreshness({ endOffsets, partitionOf, watch });
  expect(await unknown.check('job.events', '0')).toBe('unknown');
});

test('a question never takes the answer of a read that began before it; those that wait share the next', async () => {
  const reads: PromiseWithResolvers<readonly number[]>[] = [];
  const asked: unknown[] = [];
  const freshness = logFreshness({
    endOffsets: () => {
      const read = Promise.withResolvers<readonly number[]>();
      reads.push(read);
      return read.promise;
    },
    partitionOf,
    watch: { waitFor: async (positions) => asked.push(positions[0]?.offset) > 0 },
  });
  const first = freshness.check('job.events', '0');
  const second = freshness.check('job.events', '0');
  const third = freshness.check('job.events', '0');
  expect(reads).toHaveLength(1);
  reads[0]?.resolve([1]);
  await first;
  expect(reads).toHaveLength(2);
  reads[1]?.resolve([5]);
  await Promise.all([second, third]);
  expect(asked).toEqual([0, 4, 4]);
  expect(reads).toHaveLength(2);
});
