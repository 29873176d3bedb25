import { setTimeout as delay } from 'node:timers/promises';
import { committedOffsets } from '#infra/kafka/committed-offsets.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { reasonOf } from '#infra/kafka/kafka-failure.ts';
import { partitionBounds } from '#infra/kafka/log-reader.ts';
import { TransactionalWriter, WriterFenced } from '#infra/kafka/transactional-writer.ts';
import type { Logger } from '#infra/log.ts';
import { elect } from './election.ts';
import { decideLane } from './lane-decider.ts';
import { type LanePlace, transactionalIdOf } from './lanes.ts';
import { ownedPartitions, rebuildSeconds } from './ledger-metrics.ts';
import { OtherShape, refuseOtherLanes } from './ledger-shape.ts';
import type { LedgerState, StateEntry } from './ledger-state.ts';
import type { CommittedReply } from './reply.ts';
import { BrokenChain, type RebuiltState, rebuildState } from './state-rebuild.ts';
import { snapshotOf } from './state-snapshots.ts';

/** Who owns, as the elections show it, and who hears the replies of its transactions once they are committed. */
export type Owner = Readonly<{
  kafka: KafkaConnection;
  log: Logger;
  ownerId: string;
  group: string;
  onReplies: (replies: readonly CommittedReply[]) => void;
}>;

const writtenTopics = [
  'wallet.events',
  'team.events',
  'job.events',
  'wallet.state',
  'wallet.replies',
] as const;
/** Nobody but the owner writes into its partitions of these. */
const ownTopics = ['wallet.events', 'team.events'] as const;
const SNAPSHOTS_A_TRANSACTION = 1_000;
const RETRY_MS = { first: 50, most: 3_000 };
/** Another owner may be the rightful one: give the group the time to tell. */
const FENCED_PAUSE_MS = 1_500;

/**
 * Owns one lane of wallet.commands until `signal` aborts: takes over, decides batch after batch, each in one
 * transaction for all partitions of the lane. After any error the writer and the states are thrown away, and
 * it takes over again. Rejects with `BrokenChain` when the log itself is damaged, and with `OtherShape` when it
 * was begun with another number of lanes.
 */
export async function ownLane(owner: Owner, place: LanePlace, signal: AbortSignal): Promise<void> {
  const log = owner.log.child({ lane: place.lane, partitions: place.partitions });
  let waitMs = RETRY_MS.first;
  let hasDecided = false;
  while (!signal.aborted) {
    try {
      await ownOnce({ ...owner, log }, place, signal, () => {
        waitMs = RETRY_MS.first;
        hasDecided = true;
      });
    } catch (error) {
      if (error instanceof BrokenChain || error instanceof OtherShape) throw error;
      // Its coordinators move while a cluster starts or instances share out lanes: no trouble at first.
      const isBeginning = !hasDecided && waitMs < RETRY_MS.most;
      if (isBeginning)
        log.info({ reason: reasonOf(error) }, 'The ledger cannot take over yet; it tries again.');
      else log.warn({ reason: reasonOf(error) }, 'The ledger lost its footing; it takes over anew.');
      const pauseMs = error instanceof WriterFenced ? FENCED_PAUSE_MS : waitMs;
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, RETRY_MS.most);
    }
  }
}

/** One life as the owner, in the only safe order: fence, elect, rebuild, then consume. */
async function ownOnce(
  owner: Owner,
  place: LanePlace,
  signal: AbortSignal,
  onDecided: () => void,
): Promise<void> {
  const startedAt = performance.now();
  const writer = await TransactionalWriter.open(owner.kafka, {
    transactionalId: transactionalIdOf(place.lane),
    topics: writtenTopics,
    ownTopics,
  });
  try {
    const states = await takeOver(writer, owner, place);
    const seconds = (performance.now() - startedAt) / 1_000;
    rebuildSeconds.observe(seconds);
    owner.log.info({ seconds, teams: teamsIn(states) }, 'The ledger owns its lane.');
    ownedPartitions.inc(place.partitions.length);
    try {
      await decideLane(writer, owner, place, { states, signal, onDecided });
    } finally {
      ownedPartitions.dec(place.partitions.length);
    }
  } finally {
    await writer.close();
  }
}

/** The states of the lane's partitions, by partition, as of the election, and ready to be decided on. */
async function takeOver(
  writer: TransactionalWriter,
  owner: Owner,
  place: LanePlace,
): Promise<ReadonlyMap<number, LedgerState>> {
  const elections = await elect(writer, owner.ownerId, place);
  await refuseOtherLanes(owner.kafka, place);
  const rebuilt = await Promise.all(
    [...elections].map(async ([partition, electionId]) => ({
      partition,
      ...(await rebuildState(owner.kafka, { partition, electionId })),
    })),
  );
  for (const { partition, source, state } of rebuilt) {
    if (source === 'events')
      owner.log.info({ partition, teams: state.teams.size }, 'The ledger was rebuilt from its events.');
    await settleStart(writer, owner, partition, { state, source });
  }
  return new Map(rebuilt.map(({ partition, state }) => [partition, state]));
}

/**
 * The snapshots say where the commands go on. A state from events does not know: then the group's offset
 * counts, or the first command that is kept, and wallet.state is written anew, its partition record last.
 */
async function settleStart(
  writer: TransactionalWriter,
  { kafka, group }: Owner,
  partition: number,
  { state, source }: RebuiltState,
): Promise<void> {
  const bounds = await partitionBounds(kafka, { topic: 'wallet.commands', partition });
  const known =
    state.nextCommandOffset ?? (await committedOffsets(kafka, group, 'wallet.commands')).get(partition);
  // Outside of the log: retention went past it, or the commands' topic was made anew.
  const isInLog = known !== undefined && known >= bounds.beginning && known <= bounds.end;
  state.consumed(isInLog ? known : bounds.beginning);
  if (source === 'snapshots') return;
  const entries = [...state.entries()];
  for (let from = 0; from < entries.length; from += SNAPSHOTS_A_TRANSACTION) {
    await writer.write({
      records: entries
        .slice(from, from + SNAPSHOTS_A_TRANSACTION)
        .map((entry) => snapshotRecord(state, partition, entry)),
    });
  }
}

const snapshotRecord = (state: LedgerState, partition: number, entry: StateEntry) => ({
  topic: 'wallet.state' as const,
  partition,
  ...snapshotOf(state, entry),
});

const teamsIn = (states: ReadonlyMap<number, LedgerState>): number =>
  [...states.values()].reduce((teams, state) => teams + state.teams.size, 0);
