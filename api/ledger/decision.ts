import type { Charge } from '#schemas/charge.ts';
import type { Named } from '#schemas/codec.ts';
import type { CommandRecords, RecordTypes } from '#schemas/records.ts';
import type { Wallet } from '#schemas/wallet.ts';

/** What a decision looks at and what it says. All amounts are integers of cents. */

export type Command = Named<CommandRecords>;

/** Why the ledger does not do what it was asked; nothing was written. */
export type Refusal =
  | 'InsufficientBalance'
  | 'BillingNotActive'
  | 'WalletNotFound'
  | 'WalletExists'
  | 'ApiKeyNotFound'
  | 'ApiKeyExists'
  | 'ApiKeyRevoked'
  | 'ChargeNotFound'
  | 'IdempotencyConflict'
  | 'DeadlinePassed'
  | 'InvalidCommand';

/** What the ledger answers beside accepted or refused; the fields of CommandReply that can be null. */
export type Answer = Readonly<
  Partial<
    Pick<
      RecordTypes['CommandReply'],
      | 'event_id'
      | 'job_id'
      | 'debit_id'
      | 'first_clip_id'
      | 'clip_id_step'
      | 'item_count'
      | 'amount_cents'
      | 'balance_cents'
      | 'key_id'
    >
  >
>;

/** A command that was accepted before. `requestHash` is null for commands that carry none. */
export type DecidedCommand = Readonly<{ requestHash: string | null; answer: Answer }>;

/** A payment reference that has been counted. */
export type CountedTopUp = Readonly<{ eventId: string; amountCents: number; balanceCents: number }>;

/** All that a decision may look at: the state of the command's team, looked up by the command's own ids. */
export type LedgerView = Readonly<{
  wallet: Wallet;
  /** The first answer to this very `command_id`, if it was accepted before. */
  decided: DecidedCommand | undefined;
  /** The charge that a SettleChargeItem names. */
  charge: Charge | undefined;
  /** The top-up with a TopUpWallet's reference. */
  topUp: CountedTopUp | undefined;
  /** The key that a CreateApiKey or RevokeApiKey names. */
  apiKey: 'active' | 'revoked' | undefined;
  /** The key that the command was given with, where a key caused it. */
  actorKey: 'active' | 'revoked' | undefined;
}>;

/** `nextClipCounter` times `partitionCount` plus `partition` is the next free clip id. */
export type DecisionContext = Readonly<{
  nowMs: number;
  partition: number;
  partitionCount: number;
  nextClipCounter: number;
}>;

type ChainFields = 'seq' | 'prev_hash' | 'hash';
type DraftOf<Name extends keyof RecordTypes> = Readonly<{
  name: Name;
  value: Omit<RecordTypes[Name], ChainFields>;
}>;

/** A chained event that still wants its place in the chain: `seq`, `prev_hash` and `hash`. */
export type WalletDraft =
  | DraftOf<'WalletOpened'>
  | DraftOf<'BillingActivated'>
  | DraftOf<'BillingDeactivated'>
  | DraftOf<'WalletToppedUp'>
  | DraftOf<'WalletDebited'>
  | DraftOf<'WalletRefunded'>
  | DraftOf<'ChargeCaptured'>;
export type TeamDraft =
  | DraftOf<'TeamCreated'>
  | DraftOf<'ApiKeyCreated'>
  | DraftOf<'ApiKeyRevoked'>
  | DraftOf<'WebhookSecretRotated'>;

export type Decision =
  | Readonly<{
      outcome: 'accepted';
      /** This is the first answer again; nothing is written. */
      replayed: boolean;
      walletEvents: readonly WalletDraft[];
      teamEvents: readonly TeamDraft[];
      jobRequested: RecordTypes['JobRequested'] | undefined;
      answer: Answer;
    }>
  | Readonly<{ outcome: 'refused'; refusal: Refusal; requiredCents?: number; balanceCents?: number }>;

/** How long an accepted command is answered again: the 24 h that clients are promised and an hour to spare. */
export const COMMAND_MEMORY_MS = 25 * 3_600_000;
