import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 200;

/**
 * Runs `work` while no other set-up of this checkout does. A lock left by a killed set-up is taken over.
 *
 * @template T
 * @param {string} lockFolder
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withSetupLock(lockFolder, work) {
  mkdirSync(dirname(lockFolder), { recursive: true });
  let told = false;
  while (!tryLock(lockFolder)) {
    if (!told) process.stderr.write('set-up: another npm command is setting up; waiting for it …\n');
    told = true;
    await sleep(pollMs);
  }
  try {
    return await work();
  } finally {
    // Our file alone: somebody may rename a new lock onto the folder as soon as it is empty.
    rmSync(join(lockFolder, String(process.pid)), { force: true });
  }
}

/** The lock is a folder that comes into being with its owner's pid inside: renaming onto a full folder fails. */
function tryLock(lockFolder) {
  const mine = `${lockFolder}.${process.pid}`;
  rmSync(mine, { recursive: true, force: true });
  mkdirSync(mine);
  writeFileSync(join(mine, String(process.pid)), '');
  try {
    renameSync(mine, lockFolder);
    return true;
  } catch (error) {
    rmSync(mine, { recursive: true, force: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    removeWhenStale(lockFolder);
    return false;
  }
}

/**
 * Emptying the folder of a dead owner lets the next rename succeed. The file is named for the pid, so a
 * lock that somebody else has taken meanwhile is not touched.
 */
function removeWhenStale(lockFolder) {
  for (const pid of readOwners(lockFolder)) {
    if (!isRunning(Number(pid))) rmSync(join(lockFolder, pid), { force: true });
  }
}

function readOwners(lockFolder) {
  try {
    return readdirSync(lockFolder);
  } catch {
    return []; // Released meanwhile.
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
