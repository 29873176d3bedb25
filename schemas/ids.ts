import { createHash } from 'node:crypto';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether `text` is a UUID in its usual lower-case form. */
export const isUuid = (text: string): boolean => uuidPattern.test(text);

/**
 * A UUID that the same `namespace` (a UUID) and `name` always give: version 5 of RFC 9562, section 5.5.
 * Ids that follow from what happened cannot be minted twice.
 */
export function derivedUuid(namespace: string, name: string): string {
  const namespaceBytes = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  const digest = createHash('sha1').update(namespaceBytes).update(name).digest().subarray(0, 16);
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = digest.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The event id of the one refund or capture that an item of a charge can ever have. */
export const settlementEventId = (debitId: string, item: number): string =>
  derivedUuid(debitId, `item:${item}`);

/** The event id of the debit by which a RequestJob is paid. */
export const debitIdOf = (commandId: string): string => derivedUuid(commandId, 'WalletDebited');
