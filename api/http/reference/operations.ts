import { createKey, getWallet, listKeys, revokeKey, testKey } from './account-operations.ts';
import { cancelClipJob, createClip, getClipJob } from './clip-operations.ts';
import { cancelFaceSwap, createFaceSwap, getFaceSwapJob } from './face-swap-operations.ts';
import { listDeliveries, listJobs, listTransactions, replayDelivery } from './list-operations.ts';
import type { Operation } from './operation.ts';
import { serviceOperations } from './service-operations.ts';

/** Every route there is, in the order in which the reference shows them; a test holds it to the server's own. */
export const operations: readonly Operation[] = [
  createClip,
  getClipJob,
  cancelClipJob,
  createFaceSwap,
  getFaceSwapJob,
  cancelFaceSwap,
  listJobs,
  getWallet,
  listTransactions,
  listDeliveries,
  replayDelivery,
  testKey,
  createKey,
  listKeys,
  revokeKey,
  ...serviceOperations,
];
