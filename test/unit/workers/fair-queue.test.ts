import { expect, test } from 'vitest';
import { FairQueue } from '#workers/runtime/fair-queue.ts';

type Task = { readonly teamId: number; readonly name: string };

function given(...names: readonly string[]): FairQueue<Task> {
  const queue = new FairQueue<Task>();
  for (const name of names) queue.add({ teamId: Number(name[0]), name });
  return queue;
}

function takeAll(queue: FairQueue<Task>): string[] {
  const taken: string[] = [];
  for (let task = queue.take(); task !== undefined; task = queue.take()) taken.push(task.name);
  return taken;
}

test('teams take turns, whatever the length of their queues', () => {
  expect(takeAll(given('1a', '1b', '1c', '1d', '2a', '3a', '3b'))).toEqual([
    '1a',
    '2a',
    '3a',
    '1b',
    '3b',
    '1c',
    '1d',
  ]);
});

test('within a team the first that came is the first served', () => {
  expect(takeAll(given('1a', '1b', '1c'))).toEqual(['1a', '1b', '1c']);
});

test('a team that comes late waits for no more than one task of each other team', () => {
  const queue = given('1a', '1b', '1c', '2a', '2b');
  queue.take();
  queue.add({ teamId: 3, name: '3a' });
  expect(takeAll(queue).indexOf('3a')).toBeLessThanOrEqual(2);
});

test('a task that may not run yet is passed over without losing its place', () => {
  const queue = given('1a', '1b', '2a');
  expect(queue.take(({ name }) => name !== '1a')?.name).toBe('1b');
  expect(takeAll(queue)).toEqual(['2a', '1a']);
});

test('nothing is taken when nothing may run', () => {
  const queue = given('1a', '2a');
  expect(queue.take(() => false)).toBeUndefined();
  expect(queue.size).toBe(2);
});

test('lost tasks are dropped and no longer counted', () => {
  const queue = given('1a', '1b', '2a');
  queue.drop(({ name }) => name.endsWith('a'));
  expect(queue.size).toBe(1);
  expect(takeAll(queue)).toEqual(['1b']);
});
