import { expect, test } from 'vitest';
import { cancelledCode } from '#schemas/failure-codes.ts';
import { Cancellations, cancelledItem } from '#workers/runtime/cancellations.ts';
import { sampleRecords } from '../schemas/sample-records.ts';

const isCancelled = (cancellations: Cancellations, jobId: string) =>
  cancellations.heeding(jobId, async (signal) => signal.aborted);

test('every task of the job that runs is stopped, and those of others are not', async () => {
  const cancellations = new Cancellations();
  const signals: AbortSignal[] = [];
  const gate = Promise.withResolvers<void>();
  const running = ['a', 'a', 'b'].map((jobId) =>
    cancellations.heeding(jobId, (signal) => {
      signals.push(signal);
      return gate.promise;
    }),
  );
  cancellations.note('a');
  cancellations.note('a');
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, false]);
  gate.resolve();
  await Promise.all(running);
  expect(await isCancelled(cancellations, 'a')).toBe(true);
  expect(await isCancelled(cancellations, 'b')).toBe(false);
});

test('of very many jobs the oldest are forgotten', async () => {
  const cancellations = new Cancellations();
  for (let number = 0; number <= 10_000; number += 1) cancellations.note(`job ${number}`);
  expect(await isCancelled(cancellations, 'job 0')).toBe(false);
  expect(await isCancelled(cancellations, 'job 1')).toBe(true);
});

test('only failures with the code of a cancellation are cancellations', () => {
  const clip = sampleRecords.ClipFailed;
  const swap = sampleRecords.SwapFailed;
  const cancelledClip = { name: 'ClipFailed', value: { ...clip, code: cancelledCode } } as const;
  const cancelledSwap = { name: 'SwapFailed', value: { ...swap, code: cancelledCode } } as const;
  expect(cancelledItem(cancelledClip)).toEqual(cancelledClip);
  expect(cancelledItem(cancelledSwap)).toEqual(cancelledSwap);
  expect(cancelledItem({ name: 'ClipFailed', value: { ...clip, code: 'DEADLINE' } })).toBeUndefined();
  expect(cancelledItem({ name: 'JobRequested', value: sampleRecords.JobRequested })).toBeUndefined();
});
