import { inject } from 'vitest';
import type { PlatformDescription } from './platform.ts';
import { beginAnotherPlatform, describePlatform } from './platform-control.ts';

/** The run's platform, for test files: waits until its servers are there. */
export function usePlatform(): Promise<PlatformDescription> {
  return describePlatform(inject('platformUrl'));
}

/** A platform that no other file stands on: for those that kill its servers. */
export async function useOwnPlatform(): Promise<PlatformDescription> {
  return describePlatform(await beginAnotherPlatform(inject('platformUrl')));
}
