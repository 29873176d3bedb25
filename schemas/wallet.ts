import type { Named } from './codec.ts';
import type { RecordTypes, WalletRecords } from './records.ts';

/**
 * What a wallet's events mean: the one fold that the ledger, the projector and the auditor share.
 * Pure; all amounts are integers of cents.
 */

export type WalletEvents = Omit<WalletRecords, 'LedgerOwnerElected'>;
export type WalletEvent = Named<WalletEvents>;

export type Wallet =
  | Readonly<{ status: 'unopened' }>
  | Readonly<{
      status: 'open';
      active: boolean;
      balanceCents: number;
      /** Gross: refunds do not lower it. */
      debitedCents: number;
      refundedCents: number;
      /** Of the debited: earned, so that it can no longer come back. */
      capturedCents: number;
      toppedUpCents: number;
      seq: number;
      hash: Buffer;
    }>;
export type OpenWallet = Extract<Wallet, { status: 'open' }>;

export const unopenedWallet: Wallet = { status: 'unopened' };

/** The wallet after `event`. The event is taken at its word: what may happen is the ledger's to decide. */
export function evolveWallet(wallet: Wallet, event: WalletEvent): Wallet {
  if (event.name === 'WalletOpened') return moneyless(event.value);
  if (wallet.status === 'unopened') return wallet;
  return { ...evolveOpenWallet(wallet, event), seq: event.value.seq, hash: event.value.hash };
}

function evolveOpenWallet(
  wallet: OpenWallet,
  event: Exclude<WalletEvent, { name: 'WalletOpened' }>,
): OpenWallet {
  switch (event.name) {
    case 'BillingActivated':
      return { ...wallet, active: true };
    case 'BillingDeactivated':
      return { ...wallet, active: false };
    case 'WalletToppedUp':
      return {
        ...wallet,
        balanceCents: wallet.balanceCents + event.value.amount_cents,
        toppedUpCents: wallet.toppedUpCents + event.value.amount_cents,
      };
    case 'WalletDebited':
      return {
        ...wallet,
        balanceCents: wallet.balanceCents - event.value.amount_cents,
        debitedCents: wallet.debitedCents + event.value.amount_cents,
      };
    case 'WalletRefunded':
      return {
        ...wallet,
        balanceCents: wallet.balanceCents + event.value.amount_cents,
        refundedCents: wallet.refundedCents + event.value.amount_cents,
      };
    case 'ChargeCaptured':
      return { ...wallet, capturedCents: wallet.capturedCents + event.value.amount_cents };
  }
}

function moneyless(opened: RecordTypes['WalletOpened']): OpenWallet {
  return {
    status: 'open',
    active: false,
    balanceCents: 0,
    debitedCents: 0,
    refundedCents: 0,
    capturedCents: 0,
    toppedUpCents: 0,
    seq: opened.seq,
    hash: opened.hash,
  };
}

/** The signed effect of `event` on the balance, in cents. */
export function balanceEffectCents(event: WalletEvent): number {
  switch (event.name) {
    case 'WalletToppedUp':
    case 'WalletRefunded':
      return event.value.amount_cents;
    case 'WalletDebited':
      return -event.value.amount_cents;
    case 'WalletOpened':
    case 'BillingActivated':
    case 'BillingDeactivated':
    case 'ChargeCaptured':
      return 0;
  }
}

/** The balance that `event` says the wallet has after it, where it says one. */
export function statedBalanceCents(event: WalletEvent): number | undefined {
  return 'balance_cents' in event.value ? event.value.balance_cents : undefined;
}
