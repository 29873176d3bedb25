import { decide } from '#api/ledger/decide.ts';
import type { Command, Decision, LedgerView } from '#api/ledger/decision.ts';
import { sealEvent } from '#schemas/chain.ts';
import { type Charge, evolveCharge } from '#schemas/charge.ts';
import type { RecordTypes } from '#schemas/records.ts';
import { evolveWallet, unopenedWallet, type Wallet, type WalletEvent } from '#schemas/wallet.ts';
import { plainClipOptions } from '#test/plain-clip-options.ts';

/** A ledger of one team in a few lines: enough memory to decide one command after the other. */

export const nowMs = 1_800_000_000_000;
const decisionContext = { nowMs, partition: 2, partitionCount: 3, nextClipCounter: 5 };

type CommandValues = { [C in Command as C['name']]: C['value'] };
type CommandFields<Name extends Command['name']> = Omit<
  CommandValues[Name],
  'command_id' | 'team_id' | 'issued_at' | 'deadline_at' | 'actor'
> &
  Partial<Pick<RecordTypes['CreateTeam'], 'command_id' | 'team_id' | 'deadline_at'>>;

let commandCount = 0;

/** A command of team 8 that is in time, with an id of its own unless one is given. */
export function command<Name extends Command['name']>(name: Name, fields: CommandFields<Name>): Command {
  commandCount += 1;
  const value = {
    command_id: `00000000-0000-4000-8000-${String(commandCount).padStart(12, '0')}`,
    team_id: 8,
    issued_at: nowMs - 10,
    deadline_at: nowMs + 5_000,
    actor: 'operator:test',
    ...fields,
  };
  return { name, value } as unknown as Command;
}

export const jobCommand = (fields: Partial<RecordTypes['RequestJob']> = {}): Command =>
  command('RequestJob', {
    job_id: '00000000-0000-4000-9000-000000000001',
    kind: 'clip',
    item_count: 2,
    item_cents: 150,
    request_hash: 'aa',
    job_deadline_at: nowMs + 7_200_000,
    clip: { ...plainClipOptions, num_clips: 2 },
    face_swap: null,
    callback_url: null,
    ...fields,
  });

export type TestLedger = Readonly<{
  wallet: () => Wallet;
  decide: (command: Command) => Decision;
}>;

export function testLedger(): TestLedger {
  let wallet: Wallet = unopenedWallet;
  const charges = new Map<string, Charge>();
  const decided = new Map<string, LedgerView['decided']>();
  const topUps = new Map<string, LedgerView['topUp']>();
  const apiKeys = new Map<string, 'active' | 'revoked'>();

  const viewFor = ({ name, value }: Command): LedgerView => ({
    wallet,
    decided: decided.get(value.command_id),
    charge: name === 'SettleChargeItem' ? charges.get(value.debit_id) : undefined,
    topUp: name === 'TopUpWallet' ? topUps.get(value.reference) : undefined,
    apiKey: name === 'CreateApiKey' || name === 'RevokeApiKey' ? apiKeys.get(value.key_id) : undefined,
    actorKey: apiKeys.get(value.actor.replace(/^key:/, '')),
  });

  const remember = (source: Command, decision: Decision): void => {
    if (decision.outcome === 'refused' || decision.replayed) return;
    const requestHash = source.name === 'RequestJob' ? source.value.request_hash : null;
    decided.set(source.value.command_id, { requestHash, answer: decision.answer });
    for (const draft of decision.walletEvents) {
      const seq = wallet.status === 'open' ? wallet.seq + 1 : 1;
      const prevHash = wallet.status === 'open' ? wallet.hash : Buffer.alloc(32);
      const sealed = sealEvent(draft.name, { ...draft.value, seq, prev_hash: prevHash } as never);
      const event = { name: draft.name, value: sealed.event } as unknown as WalletEvent;
      wallet = evolveWallet(wallet, event);
      if (event.name === 'WalletToppedUp') {
        const { event_id: eventId, amount_cents: amountCents, balance_cents: balanceCents } = event.value;
        topUps.set(event.value.reference, { eventId, amountCents, balanceCents });
      }
      if (
        event.name === 'WalletDebited' ||
        event.name === 'WalletRefunded' ||
        event.name === 'ChargeCaptured'
      ) {
        const debitId = event.name === 'WalletDebited' ? event.value.event_id : event.value.debit_id;
        const charge = evolveCharge(charges.get(debitId), event);
        if (charge !== undefined) charges.set(debitId, charge);
      }
    }
    for (const { name, value } of decision.teamEvents) {
      if (name === 'ApiKeyCreated') apiKeys.set(value.key_id, 'active');
      if (name === 'ApiKeyRevoked') apiKeys.set(value.key_id, 'revoked');
    }
  };

  return {
    wallet: () => wallet,
    decide: (source) => {
      const decision = decide(viewFor(source), source, decisionContext);
      remember(source, decision);
      return decision;
    },
  };
}

/** A team with active billing and `cents` on its wallet. */
export function fundedLedger(cents: number): TestLedger {
  const ledger = testLedger();
  ledger.decide(command('CreateTeam', { name: 'Nordlicht Filme' }));
  ledger.decide(command('ActivateBilling', {}));
  if (cents > 0) ledger.decide(command('TopUpWallet', { amount_cents: cents, reference: 'first' }));
  return ledger;
}
