import { describe, expect, test } from 'vitest';
import type { FetchedRecords, FetchFrom } from '#infra/kafka/log-fetcher.ts';
import { PartitionFetches } from '#infra/kafka/partition-fetches.ts';

const at = (partition: number) => ({ topic: 'wallet.commands', partition }) as const;
const limits = { maxWaitMs: 250 };

/** Brokers that answer when the test says so: broker 1 leads the odd partitions, broker 0 the others. */
class HeldBrokers {
  readonly asked: (readonly FetchFrom[])[] = [];
  readonly #waiting = new Map<number, PromiseWithResolvers<readonly FetchedRecords[]>>();

  leaderOf({ partition }: { readonly partition: number }): number {
    return partition % 2;
  }

  fetch(from: readonly FetchFrom[]): Promise<readonly FetchedRecords[]> {
    this.asked.push(from);
    const answer = Promise.withResolvers<readonly FetchedRecords[]>();
    this.#waiting.set((from[0]?.partition ?? 0) % 2, answer);
    return answer.promise;
  }

  answer(leader: number, ...nextOffsets: readonly [partition: number, nextOffset: number][]): void {
    this.#waiting.get(leader)?.resolve(
      nextOffsets.map(([partition, nextOffset]) => ({
        ...at(partition),
        records: [],
        nextOffset,
        lastStableOffset: nextOffset,
      })),
    );
  }

  fail(leader: number): void {
    this.#waiting.get(leader)?.reject(new Error('the broker is gone'));
  }
}

describe('fetches of partitions that several brokers lead', () => {
  test('hand out what one broker has while the other is still asked, and ask nobody twice', async () => {
    const brokers = new HeldBrokers();
    const fetches = new PartitionFetches(brokers, [at(0), at(1), at(2)], limits);
    const offsets = [10, 20, 30];
    const next = () => fetches.next(({ partition }) => offsets[partition] ?? 0);

    const first = next();
    expect(brokers.asked).toEqual([
      [
        { ...at(0), offset: 10 },
        { ...at(2), offset: 30 },
      ],
      [{ ...at(1), offset: 20 }],
    ]);
    brokers.answer(0, [0, 11], [2, 31]);
    expect((await first).map(({ partition }) => partition)).toEqual([0, 2]);

    offsets[0] = 11;
    offsets[2] = 31;
    const second = next();
    expect(brokers.asked.slice(2)).toEqual([
      [
        { ...at(0), offset: 11 },
        { ...at(2), offset: 31 },
      ],
    ]);
    brokers.answer(1, [1, 22]);
    expect((await second).map(({ nextOffset }) => nextOffset)).toEqual([22]);
  });

  test('tell of a broker that failed between two calls', async () => {
    const brokers = new HeldBrokers();
    const fetches = new PartitionFetches(brokers, [at(0), at(1)], limits);
    const first = fetches.next(() => 0);
    brokers.answer(0, [0, 1]);
    await first;
    brokers.fail(1);
    await new Promise(setImmediate);
    await expect(fetches.next(() => 1)).rejects.toThrow('the broker is gone');
  });
});
