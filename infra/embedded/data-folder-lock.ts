import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Who may run servers on a data folder. SQLite's file lock is held by the kernel for as long as the
 * process lives, so a killed owner leaves no stale lock behind, and there is nothing to break open.
 */
export type DataFolderLock = { release(): void };

const busySqliteCode = 5;

/** Takes the folder for this process; undefined when another owner has it after `waitMs`. */
export function lockDataFolder(dataDir: string, waitMs = 0): DataFolderLock | undefined {
  const database = openLock(dataDir, waitMs);
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  writeFileSync(join(dataDir, 'owner.pid'), `${process.pid}\n`);
  return { release: () => database.close() };
}

/** Who has the folder and what to do about it, for a person. */
export function describeOwner(dataDir: string): string {
  const pid = readFileSync(join(dataDir, 'owner.pid'), 'utf8').trim();
  return `The data folder ${dataDir} is in use by process ${pid}. Stop that one (kill ${pid}), or set DATA_DIR to another folder.`;
}

/** Whether a living process owns the folder; looking does not take it. */
export function isDataFolderLocked(dataDir: string): boolean {
  const database = openLock(dataDir, 0);
  try {
    database.exec('SELECT 1 FROM sqlite_schema');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}

function openLock(dataDir: string, waitMs: number): DatabaseSync {
  return new DatabaseSync(join(dataDir, 'owner.lock'), { timeout: waitMs });
}

function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === busySqliteCode;
}
