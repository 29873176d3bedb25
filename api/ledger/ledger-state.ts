import { genesisHash } from '#schemas/chain.ts';
import { type Charge, isSettled, openCharge, settleItem } from '#schemas/charge.ts';
import type { Named } from '#schemas/codec.ts';
import type { RecordTypes, TeamRecords } from '#schemas/records.ts';
import { evolveWallet, unopenedWallet, type Wallet, type WalletEvent } from '#schemas/wallet.ts';
import { COMMAND_MEMORY_MS, type Command, type DecidedCommand, type LedgerView } from './decision.ts';

/** An event that the ledger writes and folds. */
export type LedgerEvent = WalletEvent | Named<TeamRecords>;

/** A team with its wallet, and where its chain in team.events stands. */
export type Team = Readonly<{ name: string; wallet: Wallet; teamSeq: number; teamHash: Buffer }>;

/** A charge with what its command needs to be answered again. */
export type DebitedCharge = Readonly<{
  charge: Charge;
  commandId: string;
  requestHash: string;
  kind: string;
  firstClipId: number | null;
  clipIdStep: number;
  debitedAtMs: number;
  balanceCents: number;
}>;

export type RememberedCommand = Omit<RecordTypes['CommandSnapshot'], 'decided_at'> &
  Readonly<{ decided_at: number }>;

/** What has a record of its own in wallet.state. */
export type StateEntry =
  | Readonly<{ kind: 'team'; teamId: number }>
  | Readonly<{ kind: 'charge'; debitId: string }>
  | Readonly<{ kind: 'command'; teamId: number; commandId: string }>
  | Readonly<{ kind: 'topUp'; teamId: number; reference: string }>
  | Readonly<{ kind: 'apiKey'; teamId: number; keyId: string }>
  | Readonly<{ kind: 'partition' }>;

const FIRST_CLIP_COUNTER = 1;
const noTeam: Team = { name: '', wallet: unopenedWallet, teamSeq: 0, teamHash: genesisHash };

/**
 * All that one partition's ledger knows, folded from its events: wallets, payment references and keys for
 * good; charges until they are settled and old; accepted commands while they can come again. Not a source
 * of truth: after any doubt it is thrown away and rebuilt from the log.
 */
export class LedgerState {
  readonly partition: number;
  readonly teams = new Map<number, Team>();
  readonly charges = new Map<string, DebitedCharge>();
  readonly commands = new Map<string, RememberedCommand>();
  readonly topUps = new Map<string, RecordTypes['TopUpSnapshot']>();
  readonly apiKeys = new Map<string, RecordTypes['ApiKeySnapshot']>();
  nextClipCounter = FIRST_CLIP_COUNTER;
  /** Where the commands go on; undefined as long as nothing says so. */
  nextCommandOffset: number | undefined;
  /** In the order of their debits, until they are old. */
  readonly #youngCharges = new Map<string, number>();
  readonly #debitByCommand = new Map<string, string>();
  #changes = new Map<string, StateEntry>();

  constructor(partition: number) {
    this.partition = partition;
  }

  team(teamId: number): Team {
    return this.teams.get(teamId) ?? noTeam;
  }

  /** What a decision on `command` may look at. */
  view(command: Command): LedgerView {
    const { team_id: teamId, command_id: commandId } = command.value;
    return {
      wallet: this.team(teamId).wallet,
      decided: this.#decided(teamId, commandId),
      charge:
        command.name === 'SettleChargeItem' ? this.#chargeOf(teamId, command.value.debit_id) : undefined,
      topUp: command.name === 'TopUpWallet' ? this.#countedTopUp(teamId, command.value.reference) : undefined,
      apiKey:
        command.name === 'CreateApiKey' || command.name === 'RevokeApiKey'
          ? this.#apiKeyStatus(teamId, command.value.key_id)
          : undefined,
      actorKey: this.#apiKeyStatus(teamId, keyIdOfActor(command.value.actor)),
    };
  }

  /** Folds one event in; total, like the folds in schemas. */
  evolve(event: LedgerEvent): void {
    switch (event.name) {
      case 'TeamCreated':
        this.#evolveTeam(event, event.value.name);
        break;
      case 'ApiKeyCreated':
        this.#setApiKey(event.value, false);
        this.#evolveTeam(event);
        break;
      case 'ApiKeyRevoked':
        this.#setApiKey(event.value, true);
        this.#evolveTeam(event);
        break;
      case 'WebhookSecretRotated':
        this.#evolveTeam(event);
        break;
      default:
        this.#evolveWallet(event);
    }
    this.#rememberCommand(event);
  }

  /** The commands before `nextOffset` are decided. */
  consumed(nextOffset: number): void {
    this.nextCommandOffset = nextOffset;
    this.#changed('partition', { kind: 'partition' });
  }

  /** Lets go of commands that can no longer come again, and of charges that are settled and as old. */
  forget(nowMs: number): void {
    const oldMs = nowMs - COMMAND_MEMORY_MS;
    for (const [key, command] of this.commands) {
      if (command.decided_at >= oldMs) break;
      this.commands.delete(key);
      this.#changed(`command/${key}`, {
        kind: 'command',
        teamId: command.team_id,
        commandId: command.command_id,
      });
    }
    for (const [debitId, debitedAtMs] of this.#youngCharges) {
      if (debitedAtMs >= oldMs) break;
      this.#youngCharges.delete(debitId);
      this.#forgetSettled(debitId);
    }
  }

  /** What has changed since the last call, each entry once. */
  takeChanges(): Iterable<StateEntry> {
    const changes = this.#changes;
    this.#changes = new Map();
    return changes.values();
  }

  /** Everything, as entries. */
  *entries(): Generator<StateEntry> {
    for (const teamId of this.teams.keys()) yield { kind: 'team', teamId };
    for (const debitId of this.charges.keys()) yield { kind: 'charge', debitId };
    for (const { team_id: teamId, command_id: commandId } of this.commands.values())
      yield { kind: 'command', teamId, commandId };
    for (const { team_id: teamId, reference } of this.topUps.values())
      yield { kind: 'topUp', teamId, reference };
    for (const { team_id: teamId, key_id: keyId } of this.apiKeys.values())
      yield { kind: 'apiKey', teamId, keyId };
    yield { kind: 'partition' };
  }

  /** Puts a charge in memory; those put in one after another must be in the order of their debits. */
  addCharge(debited: DebitedCharge): void {
    const { debitId, teamId } = debited.charge;
    this.charges.set(debitId, debited);
    this.#youngCharges.set(debitId, debited.debitedAtMs);
    this.#debitByCommand.set(commandKey(teamId, debited.commandId), debitId);
  }

  /** Puts an accepted command in memory; in the order they were decided, as charges. */
  addCommand(command: RememberedCommand): void {
    this.commands.set(commandKey(command.team_id, command.command_id), command);
  }

  #evolveTeam(event: Named<TeamRecords>, name?: string): void {
    const { team_id: teamId, seq, hash } = event.value;
    const team = this.team(teamId);
    this.#setTeam(teamId, { ...team, name: name ?? team.name, teamSeq: seq, teamHash: hash });
  }

  #evolveWallet(event: WalletEvent): void {
    const { team_id: teamId } = event.value;
    const team = this.team(teamId);
    this.#setTeam(teamId, { ...team, wallet: evolveWallet(team.wallet, event) });
    switch (event.name) {
      case 'WalletDebited':
        this.#debit(event.value);
        break;
      case 'ChargeCaptured':
        this.#settle(event.value, 'captured');
        break;
      case 'WalletRefunded':
        this.#settle(event.value, 'refunded');
        break;
      case 'WalletToppedUp':
        this.#countTopUp(event.value);
        break;
      case 'WalletOpened':
      case 'BillingActivated':
      case 'BillingDeactivated':
        break;
    }
  }

  #setTeam(teamId: number, team: Team): void {
    this.teams.set(teamId, team);
    this.#changed(`team/${teamId}`, { kind: 'team', teamId });
  }

  #debit(debit: RecordTypes['WalletDebited']): void {
    this.addCharge({
      charge: openCharge(debit),
      commandId: debit.command_id,
      requestHash: debit.request_hash,
      kind: debit.kind,
      firstClipId: debit.first_clip_id,
      clipIdStep: debit.clip_id_step,
      debitedAtMs: debit.occurred_at,
      balanceCents: debit.balance_cents,
    });
    this.#changed(`charge/${debit.event_id}`, { kind: 'charge', debitId: debit.event_id });
    if (debit.first_clip_id === null) return;
    const counter = (debit.first_clip_id - this.partition) / debit.clip_id_step + debit.item_count;
    this.nextClipCounter = Math.max(this.nextClipCounter, counter);
    this.#changed('partition', { kind: 'partition' });
  }

  #settle(
    { debit_id: debitId, item }: RecordTypes['ChargeCaptured'] | RecordTypes['WalletRefunded'],
    settlement: 'captured' | 'refunded',
  ): void {
    const debited = this.charges.get(debitId);
    if (debited === undefined) return;
    this.charges.set(debitId, { ...debited, charge: settleItem(debited.charge, item, settlement) });
    this.#changed(`charge/${debitId}`, { kind: 'charge', debitId });
    if (!this.#youngCharges.has(debitId)) this.#forgetSettled(debitId);
  }

  #forgetSettled(debitId: string): void {
    const debited = this.charges.get(debitId);
    if (debited === undefined || !isSettled(debited.charge)) return;
    this.charges.delete(debitId);
    this.#debitByCommand.delete(commandKey(debited.charge.teamId, debited.commandId));
    this.#changed(`charge/${debitId}`, { kind: 'charge', debitId });
  }

  #countTopUp(event: RecordTypes['WalletToppedUp']): void {
    const { team_id, reference, event_id, amount_cents, balance_cents } = event;
    this.topUps.set(topUpKey(team_id, reference), {
      team_id,
      reference,
      event_id,
      amount_cents,
      balance_cents,
    });
    this.#changed(`topUp/${topUpKey(team_id, reference)}`, { kind: 'topUp', teamId: team_id, reference });
  }

  #setApiKey(
    { team_id, key_id }: { readonly team_id: number; readonly key_id: string },
    revoked: boolean,
  ): void {
    this.apiKeys.set(apiKeyKey(team_id, key_id), { team_id, key_id, revoked });
    this.#changed(`apiKey/${key_id}`, { kind: 'apiKey', teamId: team_id, keyId: key_id });
  }

  /**
   * Debits are remembered as charges. Settlements need no memory: a repeated one finds its item settled.
   * TeamCreated shares its command with WalletOpened.
   */
  #rememberCommand(event: LedgerEvent): void {
    const { name, value } = event;
    if (name === 'WalletDebited' || name === 'ChargeCaptured' || name === 'WalletRefunded') return;
    if (name === 'TeamCreated') return;
    const remembered: RememberedCommand = {
      team_id: value.team_id,
      command_id: value.command_id,
      event_id: value.event_id,
      decided_at: value.occurred_at,
      key_id: 'key_id' in value ? value.key_id : null,
      amount_cents: name === 'WalletToppedUp' ? value.amount_cents : null,
      balance_cents: name === 'WalletToppedUp' ? value.balance_cents : name === 'WalletOpened' ? 0 : null,
    };
    this.addCommand(remembered);
    const key = commandKey(value.team_id, value.command_id);
    this.#changed(`command/${key}`, { kind: 'command', teamId: value.team_id, commandId: value.command_id });
  }

  #decided(teamId: number, commandId: string): DecidedCommand | undefined {
    const key = commandKey(teamId, commandId);
    const command = this.commands.get(key);
    if (command !== undefined) return { requestHash: null, answer: answerOf(command) };
    const debited = this.charges.get(this.#debitByCommand.get(key) ?? '');
    if (debited === undefined) return undefined;
    const { charge } = debited;
    return {
      requestHash: debited.requestHash,
      answer: {
        event_id: charge.debitId,
        debit_id: charge.debitId,
        job_id: charge.jobId,
        first_clip_id: debited.firstClipId,
        clip_id_step: debited.clipIdStep,
        item_count: charge.items.length,
        amount_cents: charge.items.length * charge.itemCents,
        balance_cents: debited.balanceCents,
      },
    };
  }

  #chargeOf(teamId: number, debitId: string): Charge | undefined {
    const charge = this.charges.get(debitId)?.charge;
    return charge?.teamId === teamId ? charge : undefined;
  }

  #countedTopUp(teamId: number, reference: string): LedgerView['topUp'] {
    const topUp = this.topUps.get(topUpKey(teamId, reference));
    if (topUp === undefined) return undefined;
    return { eventId: topUp.event_id, amountCents: topUp.amount_cents, balanceCents: topUp.balance_cents };
  }

  #apiKeyStatus(teamId: number, keyId: string): LedgerView['apiKey'] {
    const apiKey = this.apiKeys.get(apiKeyKey(teamId, keyId));
    return apiKey === undefined ? undefined : apiKey.revoked ? 'revoked' : 'active';
  }

  #changed(key: string, entry: StateEntry): void {
    this.#changes.set(key, entry);
  }
}

const answerOf = (command: RememberedCommand) => ({
  event_id: command.event_id,
  ...(command.key_id === null ? {} : { key_id: command.key_id }),
  ...(command.amount_cents === null ? {} : { amount_cents: command.amount_cents }),
  ...(command.balance_cents === null ? {} : { balance_cents: command.balance_cents }),
});

export const commandKey = (teamId: number, commandId: string): string => `${teamId}/${commandId}`;
export const topUpKey = (teamId: number, reference: string): string => `${teamId}/${reference}`;
export const apiKeyKey = (teamId: number, keyId: string): string => `${teamId}/${keyId}`;

const keyActor = 'key:';
const keyIdOfActor = (actor: string): string =>
  actor.startsWith(keyActor) ? actor.slice(keyActor.length) : '';
