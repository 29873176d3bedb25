import { expect } from 'vitest';
import { elect, firstElections } from '#api/ledger/election.ts';
import { type LanePlace, partitionsOfLane, transactionalIdOf } from '#api/ledger/lanes.ts';
import type { LedgerState } from '#api/ledger/ledger-state.ts';
import { rebuildState, stateOfEvents } from '#api/ledger/state-rebuild.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { readLog } from '#infra/kafka/log-reader.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import { TransactionalWriter } from '#infra/kafka/transactional-writer.ts';
import { genesisHash, isSealIntact } from '#schemas/chain.ts';
import { type AnyRecord, decodeRecord } from '#schemas/codec.ts';
import type { CommandReply } from '#schemas/records.ts';
import type { Topic } from '#schemas/topics.ts';
import {
  evolveWallet,
  statedBalanceCents,
  unopenedWallet,
  type Wallet,
  type WalletEvent,
} from '#schemas/wallet.ts';
import type { Asked } from './command-source.ts';

export type LoggedRecord = AnyRecord & { readonly at: ReadRecord };

/** All committed records of a topic, decoded. */
export async function committedRecords(
  kafka: KafkaConnection,
  topic: Topic,
): Promise<readonly LoggedRecord[]> {
  const records: LoggedRecord[] = [];
  for await (const chunk of readLog(kafka, { topics: [topic] }))
    for (const at of chunk.records) if (at.value.length > 0) records.push({ ...decodeRecord(at.value), at });
  return records;
}

/**
 * Everything that must hold in the log after no matter what: every accepted command is in it exactly once, no
 * reply promises what is not there, every chain is whole, every balance is what its events say.
 */
export async function expectSoundLedger(
  kafka: KafkaConnection,
  asked: ReadonlyMap<string, Asked>,
): Promise<{ readonly events: number; readonly accepted: number }> {
  const walletEvents = await committedRecords(kafka, 'wallet.events');
  const teamEvents = await committedRecords(kafka, 'team.events');
  const jobEvents = await committedRecords(kafka, 'job.events');
  const replies = (await committedRecords(kafka, 'wallet.replies')).map(({ value }) => value as CommandReply);
  expectWholeChains(walletEvents);
  expectWholeChains(teamEvents);
  expectRightBalances(walletEvents);
  expectUnique(walletEvents.map(({ value }) => ('event_id' in value ? value.event_id : undefined)));
  expectEachDebitOneJob(walletEvents, jobEvents);
  expectRepliesHold(replies, [...walletEvents, ...teamEvents, ...jobEvents]);
  const accepted = expectAcceptedOnce(asked, [...walletEvents, ...teamEvents]);
  for (const lane of await lanesOf(kafka)) await expectSameStateFromEvents(kafka, lane);
  return { events: walletEvents.length, accepted };
}

function expectWholeChains(records: readonly LoggedRecord[]): void {
  const last = new Map<number, { seq: number; hash: Buffer }>();
  for (const { name, value, at } of records) {
    if (name === 'LedgerOwnerElected') continue;
    if (!('prev_hash' in value)) throw new Error(`A ${name} is in ${at.topic}`);
    const before = last.get(value.team_id) ?? { seq: 0, hash: genesisHash };
    expect(value.seq, `seq of team ${value.team_id} at ${at.topic} ${at.partition}/${at.offset}`).toBe(
      before.seq + 1,
    );
    expect(value.prev_hash.equals(before.hash)).toBe(true);
    expect(isSealIntact(at.value)).toBe(true);
    last.set(value.team_id, { seq: value.seq, hash: value.hash });
  }
}

function expectRightBalances(records: readonly LoggedRecord[]): void {
  const wallets = new Map<number, Wallet>();
  for (const record of records) {
    if (record.name === 'LedgerOwnerElected') continue;
    const event = record as WalletEvent;
    const wallet = evolveWallet(wallets.get(event.value.team_id) ?? unopenedWallet, event);
    wallets.set(event.value.team_id, wallet);
    if (wallet.status === 'unopened') throw new Error('An event before the wallet was opened');
    expect(wallet.balanceCents).toBeGreaterThanOrEqual(0);
    const stated = statedBalanceCents(event);
    if (stated !== undefined) expect(stated).toBe(wallet.balanceCents);
  }
}

function expectEachDebitOneJob(
  walletEvents: readonly LoggedRecord[],
  jobEvents: readonly LoggedRecord[],
): void {
  const debits = walletEvents.flatMap(({ name, value }) =>
    name === 'WalletDebited' ? [value.event_id] : [],
  );
  const jobs = jobEvents.flatMap(({ name, value }) => (name === 'JobRequested' ? [value.debit_id] : []));
  expectUnique(jobs);
  expect(jobs.toSorted()).toEqual(debits.toSorted());
}

/** No two accepted answers of one command differ, and what they name is in the log. */
function expectRepliesHold(replies: readonly CommandReply[], events: readonly LoggedRecord[]): void {
  const eventIds = new Set(events.map(({ value }) => ('event_id' in value ? value.event_id : undefined)));
  const commandAt = new Map(
    events.map(({ value, at }) => [
      `${at.topic}/${at.partition}/${at.offset}`,
      'command_id' in value ? value.command_id : at.headers['causation_id'],
    ]),
  );
  const firstAnswers = new Map<string, string | null>();
  for (const reply of replies) {
    if (reply.outcome !== 'accepted') continue;
    if (reply.event_id !== null) {
      expect(eventIds.has(reply.event_id)).toBe(true);
      expect(firstAnswers.get(reply.command_id) ?? reply.event_id).toBe(reply.event_id);
      firstAnswers.set(reply.command_id, reply.event_id);
    }
    for (const { topic, partition, offset } of reply.positions)
      expect(commandAt.get(`${topic}/${partition}/${offset}`)).toBe(reply.command_id);
  }
}

function expectAcceptedOnce(asked: ReadonlyMap<string, Asked>, events: readonly LoggedRecord[]): number {
  const written = new Map<string, number>();
  for (const { value, name } of events) {
    if (!('command_id' in value) || name === 'TeamCreated') continue;
    written.set(value.command_id, (written.get(value.command_id) ?? 0) + 1);
  }
  let accepted = 0;
  for (const [commandId, { command, replies }] of asked) {
    const outcomes = new Set(
      replies.filter(({ refusal }) => refusal !== 'DeadlinePassed').map(({ outcome }) => outcome),
    );
    expect(outcomes.size, `answers to ${command.name} ${commandId}`).toBe(1);
    if (outcomes.has('refused')) expect(written.get(commandId) ?? 0).toBe(0);
    else {
      accepted += 1;
      // A repeated settlement finds its item settled, by itself, and is accepted without an event of its own.
      expect(written.get(commandId) ?? 0, `${command.name} ${commandId}`).toBe(1);
    }
  }
  expect([...written.keys()].filter((commandId) => !asked.has(commandId))).toEqual([]);
  return accepted;
}

/** The lanes that the log was begun with. */
async function lanesOf(kafka: KafkaConnection): Promise<readonly LanePlace[]> {
  const first = (await firstElections(kafka)).get(0);
  const partitionCount = await kafka.partitionCount('wallet.state');
  const laneCount = first?.lane_count ?? partitionCount;
  return Array.from({ length: laneCount }, (_, lane) => {
    const partitions = partitionsOfLane(lane, laneCount, partitionCount);
    return { lane, laneCount, partitions, partitionCount, replyPartitionCount: 1 };
  });
}

/** As a new owner of the lane sees it, wallet.state says the same as the events, field by field. */
async function expectSameStateFromEvents(kafka: KafkaConnection, lane: LanePlace): Promise<void> {
  const writer = await TransactionalWriter.open(kafka, {
    transactionalId: transactionalIdOf(lane.lane),
    topics: ['wallet.events', 'team.events', 'wallet.state'],
  });
  try {
    for (const [partition, electionId] of await elect(writer, 'audit', lane))
      await expectSameState(kafka, { partition, electionId });
  } finally {
    await writer.close();
  }
}

async function expectSameState(
  kafka: KafkaConnection,
  at: { readonly partition: number; readonly electionId: string },
): Promise<void> {
  const rebuilt = await rebuildState(kafka, at);
  expect(rebuilt.source).toBe('snapshots');
  const fromEvents = await stateOfEvents(kafka, at);
  expect(comparable(rebuilt.state)).toEqual(comparable(fromEvents));
}

function comparable(state: LedgerState) {
  const plain = <Value>(map: ReadonlyMap<unknown, Value>) =>
    Object.fromEntries([...map].map(([key, value]) => [String(key), structuredClone({ ...value })]).sort());
  return {
    teams: plain(state.teams),
    charges: plain(state.charges),
    commands: plain(state.commands),
    topUps: plain(state.topUps),
    apiKeys: plain(state.apiKeys),
    nextClipCounter: state.nextClipCounter,
  };
}

function expectUnique(ids: readonly (string | null | undefined)[]): void {
  const known = ids.filter((id) => id !== undefined);
  expect(new Set(known).size).toBe(known.length);
}
