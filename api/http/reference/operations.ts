import { createKey, getWallet, listKeys, revokeKey, testKey } from './account-operations.ts';
import { createClip, getClipJob } from './clip-operations.ts';
import type { Operation } from './operation.ts';
import { serviceOperations } from './service-operations.ts';

/** Every route there is, in the order in which the reference shows them; a test holds it to the server's own. */
export const operations: readonly Operation[] = [
  createClip,
  getClipJob,
  getWallet,
  testKey,
  createKey,
  listKeys,
  revokeKey,
  ...serviceOperations,
];
