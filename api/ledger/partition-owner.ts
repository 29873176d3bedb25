import { setTimeout as delay } from 'node:timers/promises';
import { committedOffsets } from '#infra/kafka/committed-offsets.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { reasonOf } from '#infra/kafka/kafka-failure.ts';
import { LogFetcher } from '#infra/kafka/log-fetcher.ts';
import { partitionBounds } from '#infra/kafka/log-reader.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import {
  TransactionalWriter,
  type TransactionContent,
  WriterFenced,
} from '#infra/kafka/transactional-writer.ts';
import type { Logger } from '#infra/log.ts';
import { DecidedBatch, type LedgerPlace } from './decided-batch.ts';
import { elect } from './election.ts';
import { GroupOffset } from './group-offset.ts';
import {
  batchSize,
  commandsDecided,
  ownedPartitions,
  rebuildSeconds,
  transactionSeconds,
} from './ledger-metrics.ts';
import type { LedgerState, StateEntry } from './ledger-state.ts';
import { BrokenChain, type RebuiltState, rebuildState } from './state-rebuild.ts';
import { snapshotOf } from './state-snapshots.ts';

/** Who owns: shown in the elections. */
export type Owner = Readonly<{ kafka: KafkaConnection; log: Logger; ownerId: string; group: string }>;

const writtenTopics = [
  'wallet.events',
  'team.events',
  'job.events',
  'wallet.state',
  'wallet.replies',
] as const;
/** Nobody but the owner writes into its partition of these. */
const ownTopics = ['wallet.events', 'team.events'] as const;
/** Also how long a stop takes when there is nothing to do. */
const FETCH_WAIT_MS = 250;
/** The broker takes about so long to complete a transaction after its commit, and begins no other before. */
const COMPLETION_MS = 1;
/** One transaction's share of the commands, so that no record batch gets near Kafka's 1 MB. */
const BATCH_COMMANDS = 500;
const BATCH_COMMAND_BYTES = 256 * 1024;
const SNAPSHOTS_A_TRANSACTION = 1_000;
const RETRY_MS = { first: 50, most: 3_000 };
/** Another owner may be the rightful one: give the group the time to tell. */
const FENCED_PAUSE_MS = 1_500;

/**
 * Owns one partition of wallet.commands until `signal` aborts: takes over, decides batch after batch, each in
 * one transaction. After any error the writer and the state are thrown away, and it takes over again. Rejects
 * with `BrokenChain` when the log itself is damaged.
 */
export async function ownPartition(owner: Owner, place: LedgerPlace, signal: AbortSignal): Promise<void> {
  const log = owner.log.child({ partition: place.partition });
  let waitMs = RETRY_MS.first;
  let hasDecided = false;
  while (!signal.aborted) {
    try {
      await ownOnce({ ...owner, log }, place, signal, () => {
        waitMs = RETRY_MS.first;
        hasDecided = true;
      });
    } catch (error) {
      if (error instanceof BrokenChain) throw error;
      // Its coordinators move while a cluster starts or instances share out partitions: no trouble at first.
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
  place: LedgerPlace,
  signal: AbortSignal,
  onDecided: () => void,
): Promise<void> {
  const startedAt = performance.now();
  const writer = await TransactionalWriter.open(owner.kafka, {
    transactionalId: `ledger-${place.partition}`,
    topics: writtenTopics,
    ownTopics,
  });
  try {
    const electionId = await elect(writer, { ownerId: owner.ownerId, ...place });
    const rebuilt = await rebuildState(owner.kafka, { partition: place.partition, electionId });
    await settleStart(writer, owner, place, rebuilt);
    const seconds = (performance.now() - startedAt) / 1_000;
    rebuildSeconds.observe(seconds);
    const { state, source } = rebuilt;
    owner.log.info({ source, seconds, teams: state.teams.size }, 'The ledger owns its partition.');
    ownedPartitions.inc();
    try {
      await decideCommands(writer, owner, place, { state, signal, onDecided });
    } finally {
      ownedPartitions.dec();
    }
  } finally {
    await writer.close();
  }
}

/**
 * The snapshots say where the commands go on. A state from events does not know: then the group's offset
 * counts, or the first command that is kept, and wallet.state is written anew, its partition record last.
 */
async function settleStart(
  writer: TransactionalWriter,
  { kafka, group }: Owner,
  { partition }: LedgerPlace,
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

async function decideCommands(
  writer: TransactionalWriter,
  owner: Owner,
  place: LedgerPlace,
  life: { readonly state: LedgerState; readonly signal: AbortSignal; readonly onDecided: () => void },
): Promise<void> {
  const { state, signal } = life;
  const at = { topic: 'wallet.commands', partition: place.partition } as const;
  const decider = new CommandDecider(writer, owner, place, state);
  const fetcher = await LogFetcher.open(owner.kafka, [at.topic]);
  try {
    while (!signal.aborted) {
      const offset = state.nextCommandOffset ?? 0;
      const [chunk] = await fetcher.fetch([{ ...at, offset }], FETCH_WAIT_MS);
      if (chunk === undefined || chunk.nextOffset === offset) {
        await decider.tellGroup();
        continue;
      }
      for (const batch of batchesOf(chunk.records)) {
        if (signal.aborted) return;
        await decider.decide(batch);
        life.onDecided();
      }
      // Commands that come while the broker completes the transaction shall share the next one.
      await delay(COMPLETION_MS);
      // What is left are markers and records of aborted transactions, which decide nothing.
      if ((state.nextCommandOffset ?? 0) < chunk.nextOffset) state.consumed(chunk.nextOffset);
    }
  } finally {
    await fetcher.close();
  }
}

function* batchesOf(records: readonly ReadRecord[]): Generator<readonly ReadRecord[]> {
  let from = 0;
  let bytes = 0;
  for (const [index, { value }] of records.entries()) {
    const isFull = index - from >= BATCH_COMMANDS || bytes + value.length > BATCH_COMMAND_BYTES;
    if (isFull && index > from) {
      yield records.slice(from, index);
      from = index;
      bytes = 0;
    }
    bytes += value.length;
  }
  if (from < records.length) yield records.slice(from);
}

/** Decides a partition's batches, each in one transaction. */
class CommandDecider {
  readonly #writer: TransactionalWriter;
  readonly #owner: Owner;
  readonly #place: LedgerPlace;
  readonly #state: LedgerState;
  readonly #groupOffset = new GroupOffset();

  constructor(writer: TransactionalWriter, owner: Owner, place: LedgerPlace, state: LedgerState) {
    this.#writer = writer;
    this.#owner = owner;
    this.#place = place;
    this.#state = state;
  }

  async decide(records: readonly ReadRecord[]): Promise<void> {
    const last = records.at(-1);
    if (last === undefined) return;
    const nowMs = Date.now();
    const batch = new DecidedBatch(this.#state, { place: this.#place, nowMs, log: this.#owner.log });
    for (const record of records) batch.add(record);
    this.#state.forget(nowMs);
    const startedAt = performance.now();
    await this.#write(batch.content(last.offset + 1), nowMs, batch.hasRefusals);
    transactionSeconds.observe((performance.now() - startedAt) / 1_000);
    batchSize.observe(records.length);
    for (const [outcome, count] of batch.outcomes) commandsDecided.inc({ outcome }, count);
  }

  /** When no commands come: tells the group what it was not told with the last ones. */
  async tellGroup(): Promise<void> {
    await this.#write({ records: [] }, Date.now(), false);
  }

  async #write(
    content: Omit<TransactionContent, 'consumed'>,
    nowMs: number,
    hasRefusals: boolean,
  ): Promise<void> {
    const nextOffset = this.#state.nextCommandOffset ?? 0;
    if (!this.#groupOffset.isDue(nextOffset, nowMs, { hasRefusals })) {
      await this.#writer.write(content);
      return;
    }
    const { partition } = this.#place;
    const consumed = { group: this.#owner.group, topic: 'wallet.commands', partition, nextOffset } as const;
    await this.#writer.write({ ...content, consumed });
    this.#groupOffset.told(nextOffset, nowMs);
  }
}
