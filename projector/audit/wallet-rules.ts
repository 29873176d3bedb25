import { type Charge, evolveCharge } from '#schemas/charge.ts';
import type { RecordTypes } from '#schemas/records.ts';
import {
  balanceEffectCents,
  evolveWallet,
  statedBalanceCents,
  unopenedWallet,
  type Wallet,
  type WalletEvent,
} from '#schemas/wallet.ts';
import type { Broken } from './team-chain.ts';

/** One team's wallet, replayed under the ledger's rules. */
export class ReplayedWallet {
  wallet: Wallet = unopenedWallet;
  readonly #references = new Set<string>();

  /** What is wrong with the event as the wallet's next; `charge` is the one that it names. */
  accept(event: WalletEvent, charge: Charge | undefined): Broken | undefined {
    const before = this.wallet;
    const broken = lifeProblem(before, event) ?? amountProblem(event) ?? this.#ruleProblem(event, charge);
    if (broken !== undefined) return broken;
    this.wallet = evolveWallet(before, event);
    return balanceProblem(before, event);
  }

  #ruleProblem(event: WalletEvent, charge: Charge | undefined): Broken | undefined {
    switch (event.name) {
      case 'WalletToppedUp': {
        const { reference } = event.value;
        if (this.#references.has(reference))
          return unlawful(`the payment ${JSON.stringify(reference)} was counted before.`);
        this.#references.add(reference);
        return undefined;
      }
      case 'WalletDebited':
        return this.wallet.status === 'open' && !this.wallet.active
          ? unlawful('it debits a wallet whose billing is not active.')
          : undefined;
      case 'WalletRefunded':
      case 'ChargeCaptured':
        return settlementProblem(event.value, charge);
      case 'WalletOpened':
      case 'BillingActivated':
      case 'BillingDeactivated':
        return undefined;
    }
  }
}

/** The charge after an event of it; the caller keeps charges that are not settled. */
export function chargeAfter(charge: Charge | undefined, event: WalletEvent): Charge | undefined {
  const isOfCharge =
    event.name === 'WalletDebited' || event.name === 'WalletRefunded' || event.name === 'ChargeCaptured';
  return isOfCharge ? evolveCharge(charge, event) : charge;
}

const unlawful = (problem: string): Broken => ({ kind: 'unlawful', problem });

function lifeProblem(wallet: Wallet, event: WalletEvent): Broken | undefined {
  if (wallet.status === 'unopened' && event.name !== 'WalletOpened')
    return unlawful('it comes before its wallet was opened.');
  if (wallet.status === 'open' && event.name === 'WalletOpened')
    return unlawful('it opens a wallet that is open.');
  return undefined;
}

function amountProblem(event: WalletEvent): Broken | undefined {
  if (!('amount_cents' in event.value)) return undefined;
  const cents = event.value.amount_cents;
  if (!Number.isSafeInteger(cents) || cents <= 0)
    return { kind: 'misstated', problem: `its amount is ${cents} cents, which is no amount.` };
  if (event.name !== 'WalletDebited') return undefined;
  const { item_count: count, item_cents: each } = event.value;
  return count * each === cents
    ? undefined
    : { kind: 'misstated', problem: `it debits ${cents} cents for ${count} items of ${each} cents.` };
}

function balanceProblem(before: Wallet, event: WalletEvent): Broken | undefined {
  const beforeCents = before.status === 'open' ? before.balanceCents : 0;
  const cents = beforeCents + balanceEffectCents(event);
  if (cents < 0)
    return { kind: 'negative', problem: `it takes the balance from ${beforeCents} to ${cents} cents.` };
  const stated = statedBalanceCents(event);
  return stated === undefined || stated === cents
    ? undefined
    : { kind: 'misstated', problem: `it says the balance is ${stated} cents; the events give ${cents}.` };
}

function settlementProblem(
  settlement: RecordTypes['WalletRefunded'] | RecordTypes['ChargeCaptured'],
  charge: Charge | undefined,
): Broken | undefined {
  const { item, amount_cents: cents } = settlement;
  if (charge === undefined)
    return unlawful(`its charge ${settlement.debit_id} was never debited, or is settled as a whole already.`);
  if (charge.teamId !== settlement.team_id || charge.jobId !== settlement.job_id)
    return unlawful(`its charge ${charge.debitId} is of team ${charge.teamId} and job ${charge.jobId}.`);
  const state = charge.items[item];
  if (state === undefined)
    return unlawful(`it settles item ${item} of a charge of ${charge.items.length} items.`);
  if (state !== 'open') return unlawful(`it settles item ${item}, which is ${state} already.`);
  return cents === charge.itemCents
    ? undefined
    : unlawful(`it is over ${cents} cents; an item of its charge is ${charge.itemCents} cents.`);
}
