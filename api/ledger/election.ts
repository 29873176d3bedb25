import { randomUUID } from 'node:crypto';
import type { TransactionalWriter } from '#infra/kafka/transactional-writer.ts';
import { cloudEventHeaders } from '#schemas/cloud-event-headers.ts';
import { encodeRecord } from '#schemas/codec.ts';
import { electionKey } from './state-snapshots.ts';

/**
 * Commits the record by which a partition's new owner knows, when it reads, that it has seen everything
 * before itself. Resolves with the election's id.
 */
export async function elect(
  writer: TransactionalWriter,
  candidate: { readonly ownerId: string; readonly partition: number; readonly partitionCount: number },
): Promise<string> {
  const electionId = randomUUID();
  const { partition } = candidate;
  const electedAt = Date.now();
  const value = encodeRecord('LedgerOwnerElected', {
    election_id: electionId,
    partition,
    partition_count: candidate.partitionCount,
    owner_id: candidate.ownerId,
    elected_at: electedAt,
  });
  const headers = cloudEventHeaders({
    id: electionId,
    type: 'LedgerOwnerElected',
    source: 'ledger',
    timeMs: electedAt,
    subject: `partition/${partition}`,
  });
  const topics = ['wallet.state', 'wallet.events', 'team.events'] as const;
  await writer.write({
    records: topics.map((topic) => ({ topic, partition, key: electionKey, value, headers })),
  });
  return electionId;
}
