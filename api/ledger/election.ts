import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { KafkaUnavailable } from '#infra/kafka/kafka-failure.ts';
import { LogFetcher } from '#infra/kafka/log-fetcher.ts';
import type { TransactionalWriter } from '#infra/kafka/transactional-writer.ts';
import { cloudEventHeaders } from '#schemas/cloud-event-headers.ts';
import { decodeRecord, encodeRecord } from '#schemas/codec.ts';
import type { LedgerOwnerElected } from '#schemas/records.ts';
import type { LanePlace } from './lanes.ts';
import { electionKey } from './state-snapshots.ts';

const topics = ['wallet.state', 'wallet.events', 'team.events'] as const;
const MAX_WAIT_MS = 100;
/** An election that is committed shows within moments, or the cluster is in trouble. */
const SILENCE_LIMIT_MS = 30_000;

/**
 * Commits, in one transaction for all partitions of a lane, the records by which its new owner knows, when it
 * reads, that it has seen everything before itself. Resolves with the election's id, by partition.
 */
export async function elect(
  writer: TransactionalWriter,
  ownerId: string,
  place: Pick<LanePlace, 'partitions' | 'partitionCount' | 'laneCount'>,
): Promise<ReadonlyMap<number, string>> {
  const electedAt = Date.now();
  const elections = new Map(place.partitions.map((partition) => [partition, randomUUID()]));
  const records = [...elections].flatMap(([partition, electionId]) => {
    const value = encodeRecord('LedgerOwnerElected', {
      election_id: electionId,
      partition,
      partition_count: place.partitionCount,
      lane_count: place.laneCount,
      owner_id: ownerId,
      elected_at: electedAt,
    });
    const headers = cloudEventHeaders({
      id: electionId,
      type: 'LedgerOwnerElected',
      source: 'ledger',
      timeMs: electedAt,
      subject: `partition/${partition}`,
    });
    return topics.map((topic) => ({ topic, partition, key: electionKey, value, headers }));
  });
  await writer.write({ records });
  return elections;
}

/**
 * The first election of each partition that has had an owner, by partition. With `owned`: of these partitions,
 * each of which has had one, and it is waited for.
 */
export async function firstElections(
  kafka: KafkaConnection,
  owned?: readonly number[],
): Promise<ReadonlyMap<number, LedgerOwnerElected>> {
  const topic = 'wallet.events';
  const fetcher = await LogFetcher.open(kafka, [topic]);
  try {
    const beginnings = await fetcher.beginningOffsets(topic);
    const ends = await fetcher.endOffsets(topic);
    const elections = new Map<number, LedgerOwnerElected>();
    for (const partition of owned ?? fetcher.partitions(topic)) {
      const beginning = beginnings[partition] ?? 0;
      if (owned === undefined && (ends[partition] ?? 0) <= beginning) continue;
      const found = await firstElection(
        fetcher,
        { topic, partition, offset: beginning },
        owned !== undefined,
      );
      if (found !== undefined) elections.set(partition, found);
    }
    return elections;
  } finally {
    await fetcher.close();
  }
}

async function firstElection(
  fetcher: LogFetcher,
  from: { readonly topic: 'wallet.events'; readonly partition: number; readonly offset: number },
  isThere: boolean,
): Promise<LedgerOwnerElected | undefined> {
  const giveUpAt = performance.now() + SILENCE_LIMIT_MS;
  for (let { offset } = from; ; ) {
    const [chunk] = await fetcher.fetch([{ ...from, offset }], { maxWaitMs: MAX_WAIT_MS });
    for (const { value } of chunk?.records ?? []) {
      const record = decodeRecord(value);
      if (record.name === 'LedgerOwnerElected') return record.value;
    }
    if (chunk !== undefined && chunk.nextOffset > offset) offset = chunk.nextOffset;
    else if (!isThere) return undefined;
    else if (performance.now() > giveUpAt)
      throw new KafkaUnavailable(`No election shows up in ${from.topic} partition ${from.partition}`);
    else await delay(1);
  }
}
