import { hash } from 'node:crypto';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether `text` is a UUID in its usual lower-case form. */
export const isUuid = (text: string): boolean => uuidPattern.test(text);

/**
 * A UUID that the same `namespace` (a UUID) and `name` always give: version 5 of RFC 9562, section 5.5.
 * Ids that follow from what happened cannot be minted twice.
 */
export function derivedUuid(namespace: string, name: string): string {
  const namespaceBytes = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  const hex = hash('sha1', Buffer.concat([namespaceBytes, Buffer.from(name)]), 'hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The event id of the one refund or capture that an item of a charge can ever have. */
export const settlementEventId = (debitId: string, item: number): string =>
  derivedUuid(debitId, `item:${item}`);

/** The event id of the debit by which a RequestJob is paid. */
export const debitIdOf = (commandId: string): string => derivedUuid(commandId, 'WalletDebited');
