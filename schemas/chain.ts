import { hash } from 'node:crypto';
import { encodeRecord } from './codec.ts';
import type { RecordTypes, TeamRecords, WalletRecords } from './records.ts';

/**
 * The hash chain of a team's events. `hash` is the last field of every chained record and a `fixed(32)`,
 * so it is the last 32 bytes of the record as logged: it is checked on those bytes, never on a re-encoding.
 */

export type ChainedEvents = Omit<WalletRecords, 'LedgerOwnerElected'> & TeamRecords;
export type ChainedEventName = keyof ChainedEvents;

export const HASH_BYTES = 32;

/** What stands in `prev_hash` of a team's first event. */
export const genesisHash: Buffer = Buffer.alloc(HASH_BYTES);

/** The event sealed with its hash, and the bytes that go into the log. `unsealed.hash` is not looked at. */
export function sealEvent<Name extends ChainedEventName>(
  name: Name,
  unsealed: Omit<ChainedEvents[Name], 'hash'>,
): Readonly<{ event: ChainedEvents[Name]; bytes: Buffer }> {
  const blank = { ...unsealed, hash: genesisHash } as unknown as RecordTypes[Name];
  const bytes = encodeRecord(name, blank);
  const sealed = hashOfLoggedBytes(bytes);
  sealed.copy(bytes, bytes.length - HASH_BYTES);
  return { event: { ...unsealed, hash: sealed } as unknown as ChainedEvents[Name], bytes };
}

/** SHA-256 of a chained record's bytes up to its last field. */
export function hashOfLoggedBytes(bytes: Buffer): Buffer {
  return hash('sha256', bytes.subarray(0, bytes.length - HASH_BYTES), 'buffer');
}

/** Whether the record says the hash that its own bytes have. */
export function isSealIntact(bytes: Buffer): boolean {
  return hashOfLoggedBytes(bytes).equals(bytes.subarray(bytes.length - HASH_BYTES));
}
