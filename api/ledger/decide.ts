import { derivedUuid, settlementEventId } from '#schemas/ids.ts';
import type { RecordTypes } from '#schemas/records.ts';
import type { OpenWallet } from '#schemas/wallet.ts';
import type {
  Answer,
  Command,
  DecidedCommand,
  Decision,
  DecisionContext,
  LedgerView,
  Refusal,
  WalletDraft,
} from './decision.ts';

/**
 * The ledger's decider: what a command does to a team, as data. No clock, no I/O, no randomness: time comes
 * with the context, and every id follows from the command, so deciding twice gives the same ids.
 * All amounts are integers of cents.
 */

/** No wallet holds more: sums of amounts stay exact integers far beyond it. */
const MAX_CENTS = 1_000_000_000_000;
const MAX_ITEMS = 1_000;

/** What `command` does, seen from `view`. A command that was accepted before gets its first answer again. */
export function decide(view: LedgerView, command: Command, context: DecisionContext): Decision {
  if (view.decided !== undefined) return decideAgain(view.decided, command);
  if (context.nowMs > command.value.deadline_at) return refused('DeadlinePassed');
  if (command.name === 'CreateTeam') return createTeam(view, command.value, context);
  if (view.wallet.status === 'unopened') return refused('WalletNotFound');
  // Whoever let it in looked at rows, which can be behind; here the revocation is known for certain.
  if (view.actorKey === 'revoked') return refused('ApiKeyRevoked');
  return decideForTeam(view, view.wallet, command, context);
}

function decideForTeam(
  view: LedgerView,
  wallet: OpenWallet,
  command: Exclude<Command, { name: 'CreateTeam' }>,
  context: DecisionContext,
): Decision {
  switch (command.name) {
    case 'ActivateBilling':
      return wallet.active
        ? unchanged()
        : accepted({
            walletEvents: [
              { name: 'BillingActivated', value: envelope('BillingActivated', command.value, context) },
            ],
          });
    case 'DeactivateBilling':
      return wallet.active
        ? accepted({
            walletEvents: [
              { name: 'BillingDeactivated', value: envelope('BillingDeactivated', command.value, context) },
            ],
          })
        : unchanged();
    case 'TopUpWallet':
      return topUpWallet(view, wallet, command.value, context);
    case 'CreateApiKey':
      return createApiKey(view, command.value, context);
    case 'RevokeApiKey':
      return revokeApiKey(view, command.value, context);
    case 'RotateWebhookSecret':
      return rotateWebhookSecret(command.value, context);
    case 'RequestJob':
      return requestJob(wallet, command.value, context);
    case 'SettleChargeItem':
      return settleChargeItem(view, wallet, command.value, context);
  }
}

function decideAgain(decided: DecidedCommand, command: Command): Decision {
  const requestHash = command.name === 'RequestJob' ? command.value.request_hash : null;
  if (decided.requestHash !== requestHash) return refused('IdempotencyConflict');
  return { ...unchanged(decided.answer), replayed: true };
}

function createTeam(
  view: LedgerView,
  command: RecordTypes['CreateTeam'],
  context: DecisionContext,
): Decision {
  if (view.wallet.status === 'open') return refused('WalletExists');
  if (!Number.isSafeInteger(command.team_id) || command.team_id < 1 || command.name.trim() === '')
    return refused('InvalidCommand');
  return accepted({
    teamEvents: [
      {
        name: 'TeamCreated',
        value: { ...envelope('TeamCreated', command, context), name: command.name },
      },
    ],
    walletEvents: [{ name: 'WalletOpened', value: envelope('WalletOpened', command, context) }],
    answer: { balance_cents: 0 },
  });
}

function topUpWallet(
  view: LedgerView,
  wallet: OpenWallet,
  command: RecordTypes['TopUpWallet'],
  context: DecisionContext,
): Decision {
  if (view.topUp !== undefined) {
    const { eventId, amountCents, balanceCents } = view.topUp;
    return {
      ...unchanged({ event_id: eventId, amount_cents: amountCents, balance_cents: balanceCents }),
      replayed: true,
    };
  }
  if (!isAmount(command.amount_cents) || command.reference === '') return refused('InvalidCommand');
  const balanceCents = wallet.balanceCents + command.amount_cents;
  if (balanceCents > MAX_CENTS) return refused('InvalidCommand');
  const value = {
    ...envelope('WalletToppedUp', command, context),
    amount_cents: command.amount_cents,
    balance_cents: balanceCents,
    reference: command.reference,
  };
  return accepted({
    walletEvents: [{ name: 'WalletToppedUp', value }],
    answer: { amount_cents: command.amount_cents, balance_cents: balanceCents },
  });
}

function createApiKey(
  view: LedgerView,
  command: RecordTypes['CreateApiKey'],
  context: DecisionContext,
): Decision {
  if (view.apiKey !== undefined) return refused('ApiKeyExists');
  const value = {
    ...envelope('ApiKeyCreated', command, context),
    key_id: command.key_id,
    name: command.name,
    prefix: command.prefix,
    key_hash: command.key_hash,
    expires_at: command.expires_at,
  };
  return accepted({ teamEvents: [{ name: 'ApiKeyCreated', value }], answer: { key_id: command.key_id } });
}

function revokeApiKey(
  view: LedgerView,
  command: RecordTypes['RevokeApiKey'],
  context: DecisionContext,
): Decision {
  if (view.apiKey === undefined) return refused('ApiKeyNotFound');
  if (view.apiKey === 'revoked') return unchanged({ key_id: command.key_id });
  const value = { ...envelope('ApiKeyRevoked', command, context), key_id: command.key_id };
  return accepted({ teamEvents: [{ name: 'ApiKeyRevoked', value }], answer: { key_id: command.key_id } });
}

function rotateWebhookSecret(
  command: RecordTypes['RotateWebhookSecret'],
  context: DecisionContext,
): Decision {
  const value = { ...envelope('WebhookSecretRotated', command, context), version: command.version };
  return accepted({ teamEvents: [{ name: 'WebhookSecretRotated', value }] });
}

function requestJob(
  wallet: OpenWallet,
  command: RecordTypes['RequestJob'],
  context: DecisionContext,
): Decision {
  const { item_count: itemCount, item_cents: itemCents } = command;
  const isCount = Number.isSafeInteger(itemCount) && itemCount >= 1 && itemCount <= MAX_ITEMS;
  if (!isCount || !isAmount(itemCents)) return refused('InvalidCommand');
  if (!wallet.active) return refused('BillingNotActive');
  const requiredCents = itemCount * itemCents;
  if (wallet.balanceCents < requiredCents) {
    return { ...refused('InsufficientBalance'), requiredCents, balanceCents: wallet.balanceCents };
  }
  return charge(command, context, { requiredCents, balanceCents: wallet.balanceCents - requiredCents });
}

function charge(
  command: RecordTypes['RequestJob'],
  context: DecisionContext,
  money: { readonly requiredCents: number; readonly balanceCents: number },
): Decision {
  const clips = {
    first_clip_id:
      command.clip === null ? null : context.nextClipCounter * context.partitionCount + context.partition,
    clip_id_step: context.partitionCount,
    item_count: command.item_count,
  };
  // Its event id is `debitIdOf` the command.
  const debit = envelope('WalletDebited', command, context);
  const shared = { job_id: command.job_id, kind: command.kind, item_cents: command.item_cents, ...clips };
  return accepted({
    walletEvents: [
      {
        name: 'WalletDebited',
        value: {
          ...debit,
          ...shared,
          amount_cents: money.requiredCents,
          balance_cents: money.balanceCents,
          request_hash: command.request_hash,
        },
      },
    ],
    jobRequested: {
      ...shared,
      event_id: derivedUuid(command.command_id, 'JobRequested'),
      team_id: command.team_id,
      debit_id: debit.event_id,
      occurred_at: context.nowMs,
      actor: command.actor,
      deadline_at: command.job_deadline_at,
      clip: command.clip,
      face_swap: command.face_swap,
      callback_url: command.callback_url,
    },
    answer: {
      ...clips,
      job_id: command.job_id,
      debit_id: debit.event_id,
      amount_cents: money.requiredCents,
      balance_cents: money.balanceCents,
    },
  });
}

function settleChargeItem(
  view: LedgerView,
  wallet: OpenWallet,
  command: RecordTypes['SettleChargeItem'],
  context: DecisionContext,
): Decision {
  const open = view.charge;
  if (open === undefined || open.jobId !== command.job_id) return refused('ChargeNotFound');
  const settlement = open.items[command.item];
  if (settlement === undefined || !settlementOutcomes.has(command.outcome)) return refused('InvalidCommand');
  if (settlement !== 'open') return unchanged({ debit_id: open.debitId });
  const value = {
    ...envelope('SettleChargeItem', command, context),
    event_id: settlementEventId(open.debitId, command.item),
    amount_cents: open.itemCents,
    debit_id: open.debitId,
    job_id: open.jobId,
    item: command.item,
    reason: command.reason,
    cause_event_id: command.cause_event_id,
  };
  const answer = { debit_id: open.debitId, amount_cents: open.itemCents };
  if (command.outcome !== 'failed')
    return accepted({ walletEvents: [{ name: 'ChargeCaptured', value }], answer });
  const balanceCents = wallet.balanceCents + open.itemCents;
  const refund: WalletDraft = { name: 'WalletRefunded', value: { ...value, balance_cents: balanceCents } };
  return accepted({ walletEvents: [refund], answer: { ...answer, balance_cents: balanceCents } });
}

/** `waived`: the item failed, but failed items are not given back in this deployment. */
const settlementOutcomes: ReadonlySet<string> = new Set(['completed', 'failed', 'waived']);

const isAmount = (cents: number): boolean => Number.isSafeInteger(cents) && cents > 0 && cents <= MAX_CENTS;

/** The fields that every chained event has; the event id follows from the command and the event's name. */
function envelope(eventName: string, command: Command['value'], context: DecisionContext) {
  return {
    event_id: derivedUuid(command.command_id, eventName),
    team_id: command.team_id,
    occurred_at: context.nowMs,
    actor: command.actor,
    command_id: command.command_id,
  };
}

const refused = (refusal: Refusal) => ({ outcome: 'refused', refusal }) as const;

type Accepted = Extract<Decision, { outcome: 'accepted' }>;

/** Accepted with what it writes; the answer names the first event. */
function accepted(written: Partial<Omit<Accepted, 'outcome' | 'replayed'>>): Accepted {
  const { walletEvents = [], teamEvents = [], jobRequested, answer = {} } = written;
  const first = walletEvents[0] ?? teamEvents[0];
  const eventId = first === undefined ? {} : { event_id: first.value.event_id };
  return {
    outcome: 'accepted',
    replayed: false,
    walletEvents,
    teamEvents,
    jobRequested,
    answer: { ...eventId, ...answer },
  };
}

/** Accepted, with nothing to write: what was asked for holds already. */
const unchanged = (answer: Answer = {}): Accepted => ({
  outcome: 'accepted',
  replayed: false,
  walletEvents: [],
  teamEvents: [],
  jobRequested: undefined,
  answer,
});
