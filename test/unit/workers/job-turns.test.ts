import { expect, test } from 'vitest';
import { JobTurns } from '#workers/swap/runtime/job-turns.ts';

const { signal: never } = new AbortController();

test("a job's work comes one after the other, and other jobs' beside it", async () => {
  const turns = new JobTurns();
  const first = Promise.withResolvers<string>();
  const order: string[] = [];
  const note = (name: string) => async () => {
    order.push(name);
    return name;
  };
  const running = turns.take('a', never, () => first.promise);
  const next = turns.take('a', never, note('next'));
  expect(await turns.take('b', never, note('other'))).toBe('other');
  first.reject(new Error('broken'));
  await expect(running).rejects.toThrow('broken');
  expect(await next).toBe('next');
  expect(order).toEqual(['other', 'next']);
});

test('one that is aborted while it waits lets nobody go before their turn', async () => {
  const turns = new JobTurns();
  const first = Promise.withResolvers<void>();
  const abort = new AbortController();
  let hasRun = false;
  const running = turns.take('a', never, () => first.promise);
  const aborted = turns.take('a', abort.signal, async () => undefined);
  const last = turns.take('a', never, async () => {
    hasRun = true;
  });
  abort.abort(new Error('called off'));
  await expect(aborted).rejects.toThrow('called off');
  expect(hasRun).toBe(false);
  first.resolve();
  await Promise.all([running, last]);
  expect(hasRun).toBe(true);
});
