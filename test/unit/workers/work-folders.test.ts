import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WorkFolders } from '#workers/runtime/work-folders.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'work-folders-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** The id of a process that has just ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}

test('a task has an empty folder of its own, which is removed when it ends', async () => {
  const folders = await WorkFolders.open(root);
  const during = await folders.within(async (folder) => {
    await writeFile(join(folder, 'source'), 'bytes');
    return { before: await readdir(folders.path), folder };
  });
  expect(during.before).toHaveLength(1);
  expect(await readdir(folders.path)).toEqual([]);
});

test('the folder is removed also when the task fails', async () => {
  const folders = await WorkFolders.open(root);
  await expect(folders.within(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await readdir(folders.path)).toEqual([]);
});

test('what a killed process left is swept, what a living one uses stays', async () => {
  await WorkFolders.open(root, await deadPid());
  const living = await WorkFolders.open(root, process.ppid);
  const own = await WorkFolders.open(root);
  expect((await readdir(root)).map((name) => join(root, name)).sort()).toEqual(
    [living.path, own.path].sort(),
  );
});

test('folders of others in the same place are not touched', async () => {
  await writeFile(join(root, 'something-else'), '');
  const own = await WorkFolders.open(root);
  await own.close();
  expect(await readdir(root)).toEqual(['something-else']);
});
