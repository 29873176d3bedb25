import type { RecordTypes } from './records.ts';

/** What is left to settle of one WalletDebited. Each item settles once: captured or refunded. */

export type ItemSettlement = 'open' | 'captured' | 'refunded';

export type Charge = Readonly<{
  debitId: string;
  jobId: string;
  teamId: number;
  itemCents: number;
  items: readonly ItemSettlement[];
}>;

/** The charge that a debit opens. */
export function openCharge(debit: RecordTypes['WalletDebited']): Charge {
  return {
    debitId: debit.event_id,
    jobId: debit.job_id,
    teamId: debit.team_id,
    itemCents: debit.item_cents,
    items: Array.from({ length: debit.item_count }, () => 'open' as const),
  };
}

/** The charge with `item` settled; an item that is not open stays as it is. */
export function settleItem(
  charge: Charge,
  item: number,
  settlement: Exclude<ItemSettlement, 'open'>,
): Charge {
  if (charge.items[item] !== 'open') return charge;
  return { ...charge, items: charge.items.with(item, settlement) };
}

/** Whether no item of the charge is open. */
export const isSettled = (charge: Charge): boolean => !charge.items.includes('open');

export type ChargeEvent =
  | Readonly<{ name: 'WalletDebited'; value: RecordTypes['WalletDebited'] }>
  | Readonly<{ name: 'WalletRefunded'; value: RecordTypes['WalletRefunded'] }>
  | Readonly<{ name: 'ChargeCaptured'; value: RecordTypes['ChargeCaptured'] }>;

/** The charge after `event`, given the one that the event names, if it is known. */
export function evolveCharge(charge: Charge | undefined, event: ChargeEvent): Charge | undefined {
  switch (event.name) {
    case 'WalletDebited':
      return openCharge(event.value);
    case 'WalletRefunded':
      return charge && settleItem(charge, event.value.item, 'refunded');
    case 'ChargeCaptured':
      return charge && settleItem(charge, event.value.item, 'captured');
  }
}
