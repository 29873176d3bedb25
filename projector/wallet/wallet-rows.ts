import type { RecordTypes } from '#schemas/records.ts';
import {
  balanceEffectCents,
  evolveWallet,
  type OpenWallet,
  unopenedWallet,
  type Wallet,
  type WalletEvent,
} from '#schemas/wallet.ts';

/** What wallet events become in the tables. Pure. */

/** The clip ids that a debit paid for. */
export type DebitClips = Readonly<{ firstClipId: number | null; clipIdStep: number }>;

export type TransactionRow = Readonly<{
  teamId: number;
  seq: number;
  eventId: string;
  type: string;
  amountCents: number;
  balanceAfterCents: number;
  jobId: string | null;
  clipId: number | null;
  debitId: string | null;
  item: number | null;
  itemCount: number | null;
  clipIdStep: number | null;
  reference: string | null;
  reason: string | null;
  actor: string;
  occurredAtMs: number;
}>;

export type WalletRows = Readonly<{
  transactions: readonly TransactionRow[];
  /** The wallets that changed, by team. */
  wallets: ReadonlyMap<number, OpenWallet>;
  /** Events that do not continue their wallet's chain; the audit says what is wrong with them. */
  chainBreaks: readonly WalletEvent[];
}>;

/**
 * Folds `events` into the wallets and debits known so far. An event that a wallet already has changes
 * nothing; so does one of a wallet that was never opened.
 */
export function foldWalletRows(
  events: readonly WalletEvent[],
  known: {
    readonly wallets: ReadonlyMap<number, OpenWallet>;
    readonly debits: ReadonlyMap<string, DebitClips>;
  },
): WalletRows {
  const wallets = new Map<number, OpenWallet>();
  const debits = new Map(known.debits);
  const transactions: TransactionRow[] = [];
  const chainBreaks: WalletEvent[] = [];
  for (const event of events) {
    const teamId = event.value.team_id;
    const before: Wallet = wallets.get(teamId) ?? known.wallets.get(teamId) ?? unopenedWallet;
    if (before.status === 'open' && event.value.seq <= before.seq) continue;
    if (!continuesChain(before, event)) chainBreaks.push(event);
    const after = evolveWallet(before, event);
    if (after.status === 'unopened') continue;
    if (event.name === 'WalletDebited') debits.set(event.value.event_id, debitClips(event.value));
    wallets.set(teamId, after);
    transactions.push(transactionRow(event, after, debits));
  }
  return { transactions, wallets, chainBreaks };
}

function continuesChain(before: Wallet, event: WalletEvent): boolean {
  if (before.status === 'unopened') return event.name === 'WalletOpened' && event.value.seq === 1;
  return event.value.seq === before.seq + 1 && event.value.prev_hash.equals(before.hash);
}

const debitClips = (debit: RecordTypes['WalletDebited']): DebitClips => ({
  firstClipId: debit.first_clip_id,
  clipIdStep: debit.clip_id_step,
});

/** The row of one event; `debits` must hold the debit that a refund or capture names. */
export function transactionRow(
  event: WalletEvent,
  after: Pick<OpenWallet, 'balanceCents'>,
  debits: ReadonlyMap<string, DebitClips>,
): TransactionRow {
  return {
    ...noDetails,
    ...details(event, debits),
    teamId: event.value.team_id,
    seq: event.value.seq,
    eventId: event.value.event_id,
    type: event.name,
    amountCents: balanceEffectCents(event),
    balanceAfterCents: after.balanceCents,
    actor: event.value.actor,
    occurredAtMs: event.value.occurred_at,
  };
}

const noDetails = {
  jobId: null,
  clipId: null,
  debitId: null,
  item: null,
  itemCount: null,
  clipIdStep: null,
  reference: null,
  reason: null,
} as const;

function details(event: WalletEvent, debits: ReadonlyMap<string, DebitClips>): Partial<TransactionRow> {
  switch (event.name) {
    case 'WalletOpened':
    case 'BillingActivated':
    case 'BillingDeactivated':
      return {};
    case 'WalletToppedUp':
      return { reference: event.value.reference };
    case 'WalletDebited':
      return {
        jobId: event.value.job_id,
        debitId: event.value.event_id,
        clipId: event.value.first_clip_id,
        itemCount: event.value.item_count,
        clipIdStep: event.value.clip_id_step,
      };
    case 'WalletRefunded':
    case 'ChargeCaptured':
      return {
        jobId: event.value.job_id,
        debitId: event.value.debit_id,
        item: event.value.item,
        reason: event.value.reason,
        clipId: clipIdOf(debits.get(event.value.debit_id), event.value.item),
      };
  }
}

function clipIdOf(debit: DebitClips | undefined, item: number): number | null {
  return debit === undefined || debit.firstClipId === null
    ? null
    : debit.firstClipId + item * debit.clipIdStep;
}
