import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SourceCache } from '#workers/runtime/source-cache.ts';

const { signal } = new AbortController();

let folder: string;
let cache: SourceCache;
let downloads: string[];
/** What a download waits for, or fails with. */
let gate: Promise<void>;
let placed: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'source-cache-'));
  downloads = [];
  gate = Promise.resolve();
  placed = 0;
  cache = new SourceCache(join(folder, 'sources'), 20, async (key, path, stopped) => {
    downloads.push(key);
    await gate;
    stopped.throwIfAborted();
    await writeFile(path, `${key}67890`.slice(0, 10));
  });
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function place(key: string, within: AbortSignal = signal): Promise<string> {
  placed += 1;
  const path = join(folder, `task-${placed}`);
  await cache.place(key, path, within);
  return readFile(path, 'utf8');
}

test('a second task of the same source needs no download', async () => {
  expect(await place('a')).toBe('a67890');
  expect(await place('a')).toBe('a67890');
  expect(downloads).toEqual(['a']);
});

test('tasks that begin together share one download', async () => {
  const held = Promise.withResolvers<void>();
  gate = held.promise;
  const tasks = [place('a'), place('a'), place('a')];
  held.resolve();
  expect(await Promise.all(tasks)).toEqual(['a67890', 'a67890', 'a67890']);
  expect(downloads).toEqual(['a']);
});

test('when the sharing download fails or is stopped, the next task downloads for itself', async () => {
  const held = Promise.withResolvers<void>();
  gate = held.promise;
  const stop = new AbortController();
  const [first, second] = [place('a', stop.signal), place('a')];
  stop.abort();
  held.resolve();
  await expect(first).rejects.toThrow();
  expect(await second).toBe('a67890');
  expect(downloads).toEqual(['a', 'a']);
});

test('a task that is stopped does not wait for the download of another', async () => {
  const held = Promise.withResolvers<void>();
  gate = held.promise;
  const stop = new AbortController();
  const first = place('a');
  const second = place('a', stop.signal);
  stop.abort();
  held.resolve();
  await expect(second).rejects.toThrow();
  expect(await first).toBe('a67890');
});

test('the least lately used source is put out, and a task that reads it keeps it', async () => {
  const keys = ['first', 'secnd', 'third'];
  for (const key of keys.slice(0, 2)) await place(key);
  await place('first');
  await place('third');
  await place('first');
  expect(downloads).toEqual(keys);
  expect((await readdir(join(folder, 'sources'))).length).toBe(2);
  expect(await readFile(join(folder, 'task-2'), 'utf8')).toBe('secnd67890');
  await place('secnd');
  expect(downloads).toEqual([...keys, 'secnd']);
});

test('a file that was made here is kept without a copy, and one over the limit is not', async () => {
  const made = join(folder, 'made');
  await writeFile(made, 'made here');
  await cache.keep('m', made);
  expect(await place('m')).toBe('made here');
  expect((await stat(made)).nlink).toBe(3);
  await writeFile(join(folder, 'large'), 'x'.repeat(21));
  await cache.keep('l', join(folder, 'large'));
  await place('l');
  expect(downloads).toEqual(['l']);
});
