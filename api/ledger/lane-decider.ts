import { setTimeout as delay } from 'node:timers/promises';
import { LogFetcher } from '#infra/kafka/log-fetcher.ts';
import { PartitionFetches } from '#infra/kafka/partition-fetches.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import type { TransactionalWriter, TransactionContent } from '#infra/kafka/transactional-writer.ts';
import { DecidedBatch } from './decided-batch.ts';
import { GroupOffsets } from './group-offsets.ts';
import type { Owner } from './lane-owner.ts';
import type { LanePlace } from './lanes.ts';
import { batchSize, commandsDecided, transactionSeconds } from './ledger-metrics.ts';
import type { LedgerState } from './ledger-state.ts';

/** Also how long a stop takes when there is nothing to do. */
const FETCH_WAIT_MS = 250;
/** What one partition's fetch brings is decided before the next fetch, so that none keeps the others waiting long. */
const FETCH_BYTES = 512 * 1024;
/** The broker takes about so long to complete a transaction after its commit, and begins no other before. */
const COMPLETION_MS = 1;
/** One transaction's share of the commands, so that no record batch gets near Kafka's 1 MB. */
const BATCH_COMMANDS = 500;
const BATCH_COMMAND_BYTES = 256 * 1024;

type Life = Readonly<{
  states: ReadonlyMap<number, LedgerState>;
  signal: AbortSignal;
  /** Called after each transaction. */
  onDecided: () => void;
}>;

/**
 * Decides the commands of a lane, of which `writer`'s owner has the states, until `signal` aborts. Rejects with
 * the first error of any kind; the states are of no use then.
 */
export async function decideLane(
  writer: TransactionalWriter,
  owner: Owner,
  place: LanePlace,
  { states, signal, onDecided }: Life,
): Promise<void> {
  const decider = new LaneDecider(writer, owner, place, states);
  const fetcher = await LogFetcher.open(owner.kafka, ['wallet.commands']);
  try {
    const lane = place.partitions.map((partition) => ({ topic: 'wallet.commands', partition }) as const);
    const limits = { maxWaitMs: FETCH_WAIT_MS, partitionBytes: FETCH_BYTES };
    const fetches = new PartitionFetches(fetcher, lane, limits);
    while (!signal.aborted) {
      const chunks = await fetches.next(({ partition }) => decider.nextOffset(partition));
      const batches = [...batchesOf(inTurns(chunks.map(({ records }) => records)))];
      for (const batch of batches) {
        if (signal.aborted) return;
        await decider.decide(batch);
        onDecided();
      }
      // What is left are markers and records of aborted transactions, which decide nothing.
      for (const { partition, nextOffset } of chunks) decider.pass(partition, nextOffset);
      if (batches.length === 0) await decider.tellGroup();
      // Commands that come while the broker completes the transaction shall share the next one.
      else await delay(COMPLETION_MS);
    }
  } finally {
    await fetcher.close();
  }
}

/** One record of each partition after the other, so that one with many does not keep the others waiting. */
export function* inTurns(partitions: readonly (readonly ReadRecord[])[]): Generator<ReadRecord> {
  const most = Math.max(0, ...partitions.map(({ length }) => length));
  for (let index = 0; index < most; index++)
    for (const records of partitions) {
      const record = records[index];
      if (record !== undefined) yield record;
    }
}

function* batchesOf(records: Iterable<ReadRecord>): Generator<readonly ReadRecord[]> {
  let batch: ReadRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const isFull = batch.length >= BATCH_COMMANDS || bytes + record.value.length > BATCH_COMMAND_BYTES;
    if (isFull && batch.length > 0) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(record);
    bytes += record.value.length;
  }
  if (batch.length > 0) yield batch;
}

/** Decides a lane's batches, each in one transaction. */
class LaneDecider {
  readonly #writer: TransactionalWriter;
  readonly #owner: Owner;
  readonly #place: LanePlace;
  readonly #states: ReadonlyMap<number, LedgerState>;
  readonly #groupOffsets = new GroupOffsets();

  constructor(
    writer: TransactionalWriter,
    owner: Owner,
    place: LanePlace,
    states: ReadonlyMap<number, LedgerState>,
  ) {
    this.#writer = writer;
    this.#owner = owner;
    this.#place = place;
    this.#states = states;
  }

  /** Where the commands of a partition go on. */
  nextOffset(partition: number): number {
    return this.#states.get(partition)?.nextCommandOffset ?? 0;
  }

  /** Nothing before `nextOffset` is left to decide. */
  pass(partition: number, nextOffset: number): void {
    if (this.nextOffset(partition) < nextOffset) this.#states.get(partition)?.consumed(nextOffset);
  }

  async decide(records: readonly ReadRecord[]): Promise<void> {
    const nowMs = Date.now();
    const batch = new DecidedBatch(this.#states, { place: this.#place, nowMs, log: this.#owner.log });
    for (const record of records) batch.add(record);
    const startedAt = performance.now();
    await this.#write(batch.content(), nowMs, batch.hasRefusals);
    this.#owner.onReplies(batch.committedReplies);
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
    const decided = new Map(
      this.#place.partitions.map((partition) => [partition, this.nextOffset(partition)]),
    );
    const nextOffsets = this.#groupOffsets.due(decided, nowMs, { hasRefusals });
    if (nextOffsets.size === 0) {
      await this.#writer.write(content);
      return;
    }
    const consumed = { group: this.#owner.group, topic: 'wallet.commands', nextOffsets } as const;
    await this.#writer.write({ ...content, consumed });
    this.#groupOffsets.told(nextOffsets, nowMs);
  }
}
