import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeOwner, isDataFolderLocked, lockDataFolder } from '#infra/embedded/data-folder-lock.ts';

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'lock-'));
});

afterEach(() => rm(dataDir, { recursive: true }));

test('a folder has one owner at a time, and looking does not take it', () => {
  expect(isDataFolderLocked(dataDir)).toBe(false);
  const lock = lockDataFolder(dataDir);
  expect(isDataFolderLocked(dataDir)).toBe(true);
  expect(lockDataFolder(dataDir)).toBeUndefined();
  expect(describeOwner(dataDir)).toContain(`in use by process ${process.pid}`);
  lock?.release();
  expect(isDataFolderLocked(dataDir)).toBe(false);
});

test('a killed owner leaves no lock behind', async () => {
  const script = `
    const { lockDataFolder } = await import(${JSON.stringify(import.meta.resolve('#infra/embedded/data-folder-lock.ts'))});
    const lock = lockDataFolder(${JSON.stringify(dataDir)});
    console.log(lock === undefined ? 'refused' : 'locked');
    setInterval(() => lock, 1000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [answer] = await once(owner.stdout, 'data');
  expect(String(answer)).toBe('locked\n');
  expect(lockDataFolder(dataDir)).toBeUndefined();
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  const lock = lockDataFolder(dataDir);
  expect(lock).toBeDefined();
  lock?.release();
});
