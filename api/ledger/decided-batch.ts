import { partitionOf } from '#infra/kafka/partitioner.ts';
import type { LogPosition, ReadRecord, RecordToAppend } from '#infra/kafka/record.ts';
import type { TransactionContent } from '#infra/kafka/transactional-writer.ts';
import type { Logger } from '#infra/log.ts';
import { genesisHash, sealEvent } from '#schemas/chain.ts';
import { cloudEventHeaders } from '#schemas/cloud-event-headers.ts';
import { decodeRecord, encodeRecord } from '#schemas/codec.ts';
import { isUuid } from '#schemas/ids.ts';
import { recordNames } from '#schemas/records.ts';
import { decide } from './decide.ts';
import type { Command, Decision, TeamDraft, WalletDraft } from './decision.ts';
import type { LanePlace } from './lanes.ts';
import type { LedgerEvent, LedgerState } from './ledger-state.ts';
import { attemptIdHeader, type CommittedReply, type Reply, replyOf } from './reply.ts';
import { snapshotOf } from './state-snapshots.ts';

/** A larger one could make events too large for a record batch, and would be tried for ever. */
const MAX_COMMAND_BYTES = 256 * 1024;

/** A reply, who it goes to, and which of the batch's records it names. */
type DecidedReply = Readonly<{ reply: Reply; attemptId: string | undefined; from: number; to: number }>;

/**
 * Decides a batch of a lane's commands one after another, each on top of its partition's state, and collects
 * what one transaction has to write: events, snapshots, replies. The states are ahead of the log until that
 * transaction is committed.
 */
export class DecidedBatch {
  /** How many commands had which outcome, for the metrics. */
  readonly outcomes = new Map<string, number>();
  /** What to tell whoever waits in this process, once the transaction is committed. */
  readonly committedReplies: CommittedReply[] = [];
  readonly #states: ReadonlyMap<number, LedgerState>;
  readonly #place: LanePlace;
  readonly #log: Logger;
  readonly #nowMs: number;
  readonly #nextOffsets = new Map<number, number>();
  readonly #records: RecordToAppend[] = [];
  readonly #replies: DecidedReply[] = [];

  /** `states` are those of all partitions of the lane, by partition. */
  constructor(
    states: ReadonlyMap<number, LedgerState>,
    context: { readonly place: LanePlace; readonly nowMs: number; readonly log: Logger },
  ) {
    this.#states = states;
    this.#place = context.place;
    this.#nowMs = context.nowMs;
    this.#log = context.log;
  }

  /** Decides the command in one record of wallet.commands. Never throws for what the record holds. */
  add(record: ReadRecord): void {
    this.#nextOffsets.set(record.partition, record.offset + 1);
    const from = this.#records.length;
    const reply = this.#answer(record);
    if (reply === undefined) return;
    const attemptId = record.headers[attemptIdHeader];
    this.#replies.push({ reply, attemptId, from, to: this.#records.length });
    const outcome = reply.refusal ?? (reply.replayed ? 'replayed' : 'accepted');
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }

  /** Whether any command was refused. */
  get hasRefusals(): boolean {
    return [...this.outcomes.keys()].some((outcome) => outcome !== 'accepted' && outcome !== 'replayed');
  }

  /** The transaction that makes it so; all commands of the batch are consumed by it. */
  content(): TransactionContent {
    const snapshots = [...this.#nextOffsets].flatMap(([partition, nextOffset]) =>
      this.#snapshots(partition, nextOffset),
    );
    return {
      records: [...this.#records, ...snapshots],
      naming: (positions) => this.#replyRecords(positions),
    };
  }

  #snapshots(partition: number, nextOffset: number): readonly RecordToAppend[] {
    const state = this.#stateOf(partition);
    state.consumed(nextOffset);
    state.forget(this.#nowMs);
    return Array.from(state.takeChanges(), (entry) => ({
      topic: 'wallet.state' as const,
      partition,
      ...snapshotOf(state, entry),
    }));
  }

  #stateOf(partition: number): LedgerState {
    const state = this.#states.get(partition);
    if (state === undefined)
      throw new Error(`Partition ${partition} is not one of lane ${this.#place.lane}.`);
    return state;
  }

  #answer(record: ReadRecord): Reply | undefined {
    let command: Command | undefined;
    try {
      command = commandIn(record);
      if (command === undefined) return this.#refusePoison(record, 'it holds no command');
      if (partitionOf(String(command.value.team_id), this.#place.partitionCount) !== record.partition)
        return this.#refuse(command.value, 'it is in another partition than its team');
      return this.#decide(command, record);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return command === undefined ? this.#refusePoison(record, reason) : this.#refuse(command.value, reason);
    }
  }

  #decide(command: Command, record: ReadRecord): Reply {
    const state = this.#stateOf(record.partition);
    const decision = decide(state.view(command), command, {
      nowMs: this.#nowMs,
      partition: record.partition,
      partitionCount: this.#place.partitionCount,
      nextClipCounter: state.nextClipCounter,
    });
    if (decision.outcome === 'accepted') this.#write(decision, record);
    return replyOf(command.value, decision, this.#nowMs);
  }

  /** All of the command's records are encoded before any of its events is folded: both, or an error and neither. */
  #write(decision: Extract<Decision, { outcome: 'accepted' }>, record: ReadRecord): void {
    const { partition, headers } = record;
    const state = this.#stateOf(partition);
    const sealed = [...sealWallet(state, decision.walletEvents), ...sealTeam(state, decision.teamEvents)];
    if (sealed.length === 0) return;
    const records = sealed.map(({ topic, event, bytes }) => ({
      topic,
      partition,
      key: String(event.value.team_id),
      value: bytes,
      headers: eventHeaders(event.name, event.value, headers),
    }));
    const { jobRequested: job } = decision;
    if (job !== undefined) {
      const commandId = sealed[0]?.event.value.command_id ?? '';
      this.#records.push({
        topic: 'job.events',
        key: job.job_id,
        value: encodeRecord('JobRequested', job),
        headers: eventHeaders('JobRequested', { ...job, command_id: commandId }, headers),
      });
    }
    this.#records.push(...records);
    for (const { event } of sealed) state.evolve(event);
  }

  #refuse({ command_id, team_id }: Command['value'], reason: string): Reply {
    this.#log.warn(
      { commandId: command_id, teamId: team_id, reason },
      'A command cannot be decided; refused.',
    );
    return replyOf({ command_id, team_id }, { outcome: 'refused', refusal: 'InvalidCommand' }, this.#nowMs);
  }

  /** A record without a readable command is skipped; it is answered when its headers say who asked. */
  #refusePoison({ partition, offset, key, headers }: ReadRecord, reason: string): Reply | undefined {
    this.#log.error({ topic: 'wallet.commands', partition, offset, key, reason }, 'A command is skipped.');
    const commandId = headers['ce_id'];
    const teamId = Number(key);
    if (commandId === undefined || !isUuid(commandId) || !Number.isSafeInteger(teamId)) return undefined;
    return replyOf(
      { command_id: commandId, team_id: teamId },
      { outcome: 'refused', refusal: 'InvalidCommand' },
      this.#nowMs,
    );
  }

  /**
   * All replies of a batch go to one partition, whatever their keys: every client reads all partitions, and
   * each further one would cost the transaction another marker.
   */
  #replyPlace() {
    return {
      topic: 'wallet.replies',
      partition: this.#place.lane % this.#place.replyPartitionCount,
    } as const;
  }

  #replyRecords(positions: readonly (LogPosition | undefined)[]): readonly RecordToAppend[] {
    const place = this.#replyPlace();
    return this.#replies.map(({ reply, attemptId, from, to }) => {
      const named = positions.slice(from, to).filter((position) => position !== undefined);
      const whole = { ...reply, positions: named };
      this.committedReplies.push({ attemptId, reply: whole });
      return {
        ...place,
        key: reply.command_id,
        ...(attemptId === undefined ? {} : { headers: { [attemptIdHeader]: attemptId } }),
        value: encodeRecord('CommandReply', whole),
      };
    });
  }
}

function sealWallet(state: LedgerState, drafts: readonly WalletDraft[]) {
  return drafts.map((draft) => {
    const { wallet } = state.team(draft.value.team_id);
    const chain =
      wallet.status === 'open'
        ? { seq: wallet.seq + 1, prev_hash: wallet.hash }
        : { seq: 1, prev_hash: genesisHash };
    const { event, bytes } = sealEvent(draft.name, { ...draft.value, ...chain } as never);
    return {
      topic: 'wallet.events' as const,
      event: { name: draft.name, value: event } as LedgerEvent,
      bytes,
    };
  });
}

function sealTeam(state: LedgerState, drafts: readonly TeamDraft[]) {
  return drafts.map((draft) => {
    const { teamSeq, teamHash } = state.team(draft.value.team_id);
    const chain = { seq: teamSeq + 1, prev_hash: teamHash };
    const { event, bytes } = sealEvent(draft.name, { ...draft.value, ...chain } as never);
    return {
      topic: 'team.events' as const,
      event: { name: draft.name, value: event } as LedgerEvent,
      bytes,
    };
  });
}

const commandNames: ReadonlySet<string> = new Set(recordNames.command);

function commandIn(record: ReadRecord): Command | undefined {
  if (record.value.length > MAX_COMMAND_BYTES) return undefined;
  const decoded = decodeRecord(record.value);
  return commandNames.has(decoded.name) ? (decoded as Command) : undefined;
}

function eventHeaders(
  name: string,
  event: {
    readonly event_id: string;
    readonly team_id: number;
    readonly occurred_at: number;
    readonly command_id: string;
  },
  commandHeaders: Readonly<Record<string, string>>,
) {
  return cloudEventHeaders({
    id: event.event_id,
    type: name,
    source: 'ledger',
    timeMs: event.occurred_at,
    subject: `team/${event.team_id}`,
    correlationId: commandHeaders['correlation_id'] ?? event.command_id,
    causationId: event.command_id,
    traceparent: commandHeaders['traceparent'],
  });
}
