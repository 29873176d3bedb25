import { expect, test } from 'vitest';
import { partitionOf } from '#infra/kafka/partitioner.ts';

test('chooses the partitions that the Java client chooses', () => {
  // From org.apache.kafka.common.utils.UtilsTest, testMurmur2, as toPositive(hash) % 1000.
  expect(partitionOf('21', 1_000)).toBe((-973_932_308 & 0x7fffffff) % 1_000);
  expect(partitionOf('foobar', 1_000)).toBe((-790_332_482 & 0x7fffffff) % 1_000);
  expect(partitionOf('a-little-bit-long-string', 1_000)).toBe((-985_981_536 & 0x7fffffff) % 1_000);
  expect(partitionOf('lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', 1_000)).toBe(
    (-58_897_971 & 0x7fffffff) % 1_000,
  );
});
