import { setTimeout as sleep } from 'node:timers/promises';

const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** How long to wait before trying again after `failures` failures in a row: 0.5 s, 1 s, 2 s … 30 s. */
export function restartPauseMs(failures: number): number {
  return Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
}

/** Waits that long; ends early, without an error, when `signal` is aborted. */
export async function restartPause(failures: number, signal?: AbortSignal): Promise<void> {
  await sleep(restartPauseMs(failures), undefined, signal && { signal }).catch(() => undefined);
}
