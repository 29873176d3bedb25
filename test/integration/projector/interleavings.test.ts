import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { partitionOf } from '#infra/kafka/partitioner.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import { createLogger } from '#infra/log.ts';
import { dropReadModel } from '#infra/postgres/drop-read-model.ts';
import { openPool } from '#infra/postgres/pool.ts';
import { inTransaction } from '#infra/postgres/transaction.ts';
import { decodeRecords } from '#projector/decode-records.ts';
import { migrate } from '#projector/migrate.ts';
import { insertMissingPositions, positionKey } from '#projector/positions.ts';
import { ProjectionWriter } from '#projector/projection-writer.ts';
import { createTenant } from '#test/stack/tenant.ts';
import { busyHistory, type History } from '#test/unit/projector/history.ts';
import { type Random, seededRandom } from '#test/unit/projector/seeded-random.ts';
import { dumpReadModel } from './read-model-dump.ts';

type Partition = {
  readonly records: readonly ReadRecord[];
  at: { topic: ReadRecord['topic']; partition: number };
};

const PARTITIONS = 3;
const log = createLogger({ LOG_LEVEL: 'silent' }, 'test');
let pool: pg.Pool;

beforeAll(async () => {
  pool = openPool(parseConfig((await createTenant()).env), log, 'projector-test');
});

afterAll(() => pool?.end());

/** The history's records as the log's partitions hold them. */
function partitionsOf(history: History): readonly Partition[] {
  const partitions = new Map<string, ReadRecord[]>();
  for (const { topic, key, value } of history.records) {
    const partition = partitionOf(key, PARTITIONS);
    const records = partitions.get(positionKey({ topic, partition })) ?? [];
    records.push({ topic, partition, offset: records.length, key, value, headers: {}, timestampMs: 0 });
    partitions.set(positionKey({ topic, partition }), records);
  }
  return [...partitions.values()].flatMap((records) => {
    const [first] = records;
    return first === undefined ? [] : [{ records, at: { topic: first.topic, partition: first.partition } }];
  });
}

/** Projects everything in an order of its own: random pieces of random partitions, by two writers at once. */
async function projectInterleaved(partitions: readonly Partition[], random: Random): Promise<void> {
  await dropReadModel(pool);
  await migrate(pool, log);
  await inTransaction(pool, (client) =>
    insertMissingPositions(
      client,
      partitions.map(({ at }) => at),
    ),
  );
  const writers = [new ProjectionWriter(pool, log), new ProjectionWriter(pool, log)];
  const tasks = partitions.map(async ({ records, at }) => {
    const writer = writers[random.below(writers.length)] ?? new ProjectionWriter(pool, log);
    writer.own(at, 0);
    for (let start = 0; start < records.length; ) {
      // Turns of the event loop, not time: they decide which pieces meet in one transaction.
      for (let turns = random.below(40); turns > 0; turns--) await new Promise(setImmediate);
      const piece = records.slice(start, start + 1 + random.below(12));
      await writer.write(at, decodeRecords(piece).events, start + piece.length);
      start += piece.length;
    }
  });
  await Promise.all(tasks);
}

/** Everything in one transaction per partition, topic after topic. */
async function projectPlainly(partitions: readonly Partition[], topics: readonly string[]): Promise<void> {
  await dropReadModel(pool);
  await migrate(pool, log);
  const writer = new ProjectionWriter(pool, log);
  for (const topic of topics) {
    for (const { records, at } of partitions.filter((partition) => partition.at.topic === topic)) {
      await inTransaction(pool, (client) => insertMissingPositions(client, [at]));
      writer.own(at, 0);
      await writer.write(at, decodeRecords(records).events, records.length);
    }
  }
}

describe('the rows do not depend on the order in which topics are read', () => {
  test.each([1, 2, 3])(
    'history %i: topic after topic, and in random pieces by two writers',
    async (seed) => {
      const partitions = partitionsOf(busyHistory(seed, { teams: 4, jobs: 60 }));
      await projectPlainly(partitions, ['team.events', 'wallet.events', 'job.events', 'job.progress']);
      const expected = await dumpReadModel(pool);
      expect(expected['jobs']?.length).toBe(60);
      const swaps = expected['swaps']?.join() ?? '';
      for (const status of ['processing', 'completed', 'failed']) expect(swaps).toContain(`,${status},`);

      await projectPlainly(partitions, ['job.progress', 'job.events', 'wallet.events', 'team.events']);
      expect(await dumpReadModel(pool)).toEqual(expected);
      for (let round = 0; round < 4; round++) {
        await projectInterleaved(partitions, seededRandom(seed * 100 + round));
        expect(await dumpReadModel(pool)).toEqual(expected);
      }
    },
    120_000,
  );

  test('a writer whose position was moved on writes nothing', async () => {
    const [partition] = partitionsOf(busyHistory(7, { teams: 1, jobs: 5 }));
    if (partition === undefined) throw new Error('The history is empty.');
    const { at, records } = partition;
    await projectPlainly([partition], [at.topic]);
    const expected = await dumpReadModel(pool);
    const stale = new ProjectionWriter(pool, log);
    stale.own(at, 0);
    await expect(stale.write(at, decodeRecords(records).events, records.length)).rejects.toThrow(
      `The positions of ${positionKey(at)} were moved`,
    );
    expect(await dumpReadModel(pool)).toEqual(expected);
    expect(stale.nextOffset(at)).toBeUndefined();
  });
});
