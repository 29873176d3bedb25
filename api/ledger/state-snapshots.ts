import type { Charge, ItemSettlement } from '#schemas/charge.ts';
import { type AnyRecord, decodeRecord, encodeRecord } from '#schemas/codec.ts';
import type { RecordTypes } from '#schemas/records.ts';
import {
  apiKeyKey,
  commandKey,
  type DebitedCharge,
  LedgerState,
  type StateEntry,
  type Team,
  topUpKey,
} from './ledger-state.ts';

/** The records of wallet.state: one per entry of a ledger's state, compacted by key. */

/** A record of wallet.state; `value: null` removes what left the memory. */
export type Snapshot = Readonly<{ key: string; value: Buffer | null }>;

/** The key of the newest election of a partition's owner. */
export const electionKey = 'owner';
/** This record is written with each transaction, and last when the whole state is written anew. */
export const partitionKey = 'partition';

/** The record of one entry as the state has it now. */
export function snapshotOf(state: LedgerState, entry: StateEntry): Snapshot {
  switch (entry.kind) {
    case 'team':
      return { key: `wallet/${entry.teamId}`, value: teamSnapshot(entry.teamId, state.team(entry.teamId)) };
    case 'charge': {
      const debited = state.charges.get(entry.debitId);
      return {
        key: `charge/${entry.debitId}`,
        value: debited === undefined ? null : chargeSnapshot(debited),
      };
    }
    case 'command': {
      const command = state.commands.get(commandKey(entry.teamId, entry.commandId));
      return {
        key: `command/${commandKey(entry.teamId, entry.commandId)}`,
        value: command === undefined ? null : encodeRecord('CommandSnapshot', command),
      };
    }
    case 'topUp': {
      const topUp = state.topUps.get(topUpKey(entry.teamId, entry.reference));
      return {
        key: `topup/${topUpKey(entry.teamId, entry.reference)}`,
        value: topUp === undefined ? null : encodeRecord('TopUpSnapshot', topUp),
      };
    }
    case 'apiKey': {
      const apiKey = state.apiKeys.get(apiKeyKey(entry.teamId, entry.keyId));
      return {
        key: `key/${apiKeyKey(entry.teamId, entry.keyId)}`,
        value: apiKey === undefined ? null : encodeRecord('ApiKeySnapshot', apiKey),
      };
    }
    case 'partition':
      return {
        key: partitionKey,
        value: encodeRecord('PartitionSnapshot', {
          partition: state.partition,
          next_clip_counter: state.nextClipCounter,
          next_command_offset: state.nextCommandOffset ?? 0,
        }),
      };
  }
}

/** The state that these records (the newest of each key) say; undefined when they are not a whole state. */
export function stateOfSnapshots(partition: number, values: Iterable<Buffer>): LedgerState | undefined {
  const state = new LedgerState(partition);
  const charges: RecordTypes['ChargeSnapshot'][] = [];
  const commands: RecordTypes['CommandSnapshot'][] = [];
  for (const value of values) {
    const record = decodeRecord(value);
    if (record.name === 'ChargeSnapshot') charges.push(record.value);
    else if (record.name === 'CommandSnapshot') commands.push(record.value);
    else restore(state, record);
  }
  if (state.nextCommandOffset === undefined) return undefined;
  for (const charge of charges.sort((a, b) => a.debited_at - b.debited_at))
    state.addCharge(debitedCharge(charge));
  for (const command of commands.sort((a, b) => a.decided_at - b.decided_at)) state.addCommand(command);
  return state;
}

function restore(state: LedgerState, record: AnyRecord): void {
  switch (record.name) {
    case 'WalletSnapshot':
      state.teams.set(record.value.team_id, teamOf(record.value));
      return;
    case 'TopUpSnapshot':
      state.topUps.set(topUpKey(record.value.team_id, record.value.reference), record.value);
      return;
    case 'ApiKeySnapshot':
      state.apiKeys.set(apiKeyKey(record.value.team_id, record.value.key_id), record.value);
      return;
    case 'PartitionSnapshot':
      state.nextClipCounter = record.value.next_clip_counter;
      state.nextCommandOffset = record.value.next_command_offset;
      return;
    case 'LedgerOwnerElected':
      return;
    default:
      throw new Error(`A ${record.name} does not belong in wallet.state.`);
  }
}

/** A team is never in the state without its wallet: both open in one transaction. */
function teamSnapshot(teamId: number, team: Team): Buffer | null {
  const { wallet } = team;
  if (wallet.status === 'unopened') return null;
  return encodeRecord('WalletSnapshot', {
    team_id: teamId,
    name: team.name,
    active: wallet.active,
    balance_cents: wallet.balanceCents,
    debited_cents: wallet.debitedCents,
    refunded_cents: wallet.refundedCents,
    captured_cents: wallet.capturedCents,
    topped_up_cents: wallet.toppedUpCents,
    seq: wallet.seq,
    hash: wallet.hash,
    team_seq: team.teamSeq,
    team_hash: team.teamHash,
  });
}

function teamOf(snapshot: RecordTypes['WalletSnapshot']): Team {
  return {
    name: snapshot.name,
    teamSeq: snapshot.team_seq,
    teamHash: snapshot.team_hash,
    wallet: {
      status: 'open',
      active: snapshot.active,
      balanceCents: snapshot.balance_cents,
      debitedCents: snapshot.debited_cents,
      refundedCents: snapshot.refunded_cents,
      capturedCents: snapshot.captured_cents,
      toppedUpCents: snapshot.topped_up_cents,
      seq: snapshot.seq,
      hash: snapshot.hash,
    },
  };
}

const letterOf: Readonly<Record<ItemSettlement, string>> = { open: 'o', captured: 'c', refunded: 'r' };
const settlementOf: Readonly<Record<string, ItemSettlement>> = { o: 'open', c: 'captured', r: 'refunded' };

function chargeSnapshot({ charge, ...debit }: DebitedCharge): Buffer {
  return encodeRecord('ChargeSnapshot', {
    team_id: charge.teamId,
    debit_id: charge.debitId,
    command_id: debit.commandId,
    request_hash: debit.requestHash,
    job_id: charge.jobId,
    kind: debit.kind,
    item_count: charge.items.length,
    item_cents: charge.itemCents,
    first_clip_id: debit.firstClipId,
    clip_id_step: debit.clipIdStep,
    debited_at: debit.debitedAtMs,
    balance_cents: debit.balanceCents,
    items: charge.items.map((item) => letterOf[item]).join(''),
  });
}

function debitedCharge(snapshot: RecordTypes['ChargeSnapshot']): DebitedCharge {
  const charge: Charge = {
    debitId: snapshot.debit_id,
    jobId: snapshot.job_id,
    teamId: snapshot.team_id,
    itemCents: snapshot.item_cents,
    items: [...snapshot.items].map((letter) => settlementOf[letter] ?? 'open'),
  };
  return {
    charge,
    commandId: snapshot.command_id,
    requestHash: snapshot.request_hash,
    kind: snapshot.kind,
    firstClipId: snapshot.first_clip_id,
    clipIdStep: snapshot.clip_id_step,
    debitedAtMs: snapshot.debited_at,
    balanceCents: snapshot.balance_cents,
  };
}
