import type pg from 'pg';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { consumeGroup, type RecordBatch } from '#infra/kafka/group-consumer.ts';
import type { TopicPartition } from '#infra/kafka/record.ts';
import type { Logger } from '#infra/log.ts';
import { claimPartition } from './claim-partition.ts';
import { decodeRecords, type RecordNotProjectable } from './decode-records.ts';
import { positionKey } from './positions.ts';
import { projectedTopics } from './projected-topics.ts';
import { ProjectionWriter } from './projection-writer.ts';
import { lagRecords, projectedRecords } from './projector-metrics.ts';
import type { ProjectorStatus } from './projector-status.ts';
import { watchDatabase } from './watch-database.ts';
import { watchLog } from './watch-log.ts';

export type ProjectorParts = Readonly<{
  kafka: KafkaConnection;
  pool: pg.Pool;
  log: Logger;
  status: ProjectorStatus;
}>;

/**
 * Turns records into rows as a member of the group `projector`, until `signal` aborts. Rejects when it has to
 * start again from the recorded positions: the tables are gone, or log and rows do not belong together.
 */
export async function projectLog(parts: ProjectorParts, signal: AbortSignal): Promise<void> {
  const run = new AbortController();
  const stop = AbortSignal.any([signal, run.signal]);
  const writer = new ProjectionWriter(parts.pool, parts.log);
  const projection = new Projection(parts, writer, (reason) => run.abort(reason));
  const watches = [
    watchDatabase(parts, writer, { signal: stop, onRowsGone: (reason) => run.abort(reason) }),
    watchLog(parts, writer, stop),
  ];
  try {
    await consumeGroup(parts.kafka, {
      group: 'projector',
      topics: projectedTopics,
      fromBeginning: true,
      autoCommit: false,
      startOffset: (topic, partition) => projection.claim({ topic, partition }),
      onAssigned: () => parts.status.isWell('start'),
      onRevoked: (revoked) => projection.release(revoked),
      onBatch: (batch) => projection.write(batch),
      onPosition: (topic, partition, nextOffset) => projection.passMarkers({ topic, partition }, nextOffset),
      onDrain: () => writer.idle(),
      signal: stop,
    });
    if (!signal.aborted) throw run.signal.reason;
  } finally {
    run.abort();
    await Promise.all(watches);
    await writer.idle();
  }
}

/** What is done with each partition of this projector. */
class Projection {
  readonly #parts: ProjectorParts;
  readonly #writer: ProjectionWriter;
  readonly #startAgain: (reason: unknown) => void;

  constructor(parts: ProjectorParts, writer: ProjectionWriter, startAgain: (reason: unknown) => void) {
    this.#parts = parts;
    this.#writer = writer;
    this.#startAgain = startAgain;
  }

  async claim(at: TopicPartition): Promise<number> {
    try {
      const nextOffset = await claimPartition(this.#parts.pool, this.#parts.kafka, at);
      this.#writer.own(at, nextOffset);
      return nextOffset;
    } catch (error) {
      this.#startAgain(error);
      throw error;
    }
  }

  release(revoked: readonly TopicPartition[]): void {
    for (const { topic, partition } of revoked) {
      this.#writer.disown({ topic, partition });
      lagRecords.remove({ topic, partition: String(partition) });
      this.#parts.status.isWell(`records of ${positionKey({ topic, partition })}`);
    }
  }

  /** Rejecting has the batch delivered again, from the position that is claimed anew. */
  async write({ topic, partition, records, nextOffset, highWatermark }: RecordBatch): Promise<void> {
    const at = { topic, partition };
    const applied = this.#writer.nextOffset(at) ?? 0;
    const { events, unreadable } = decodeRecords(records.filter(({ offset }) => offset >= applied));
    await this.#writer.write(at, events, unreadable?.offset ?? nextOffset);
    projectedRecords.inc({ topic }, records.length);
    lagRecords.set({ topic, partition: String(partition) }, Math.max(highWatermark - nextOffset, 0));
    this.#reportRecord(at, unreadable?.error);
  }

  /** The position also moves past records that are none of ours to see, so that it can reach the log's end. */
  passMarkers(at: TopicPartition, nextOffset: number): void {
    const applied = this.#writer.nextOffset(at);
    if (applied === undefined || applied >= nextOffset) return;
    this.#writer.write(at, decodeRecords([]).events, nextOffset).catch(this.#startAgain);
  }

  #reportRecord(at: TopicPartition, error: RecordNotProjectable | undefined): void {
    const part = `records of ${positionKey(at)}`;
    if (error === undefined) {
      this.#parts.status.isWell(part);
      return;
    }
    this.#parts.status.fails(part, error.message);
    throw error;
  }
}
