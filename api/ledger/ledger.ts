import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Config } from '#infra/config.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { ownPartitions } from '#infra/kafka/partition-ownership.ts';
import type { Logger } from '#infra/log.ts';
import { refuseOtherPartitionCount } from './partition-count.ts';
import { ownPartition } from './partition-owner.ts';

/** The consumer group whose members share the partitions of wallet.commands among them. */
export const ledgerGroup = 'ledger';

/**
 * Runs this process's share of the ledger until `signal` aborts: owns the partitions of wallet.commands that
 * the group gives it, and decides their commands. Kafka's outages are waited out. Rejects when the cluster
 * has another partition count than the log says it began with, or when a chain in the log is broken.
 */
export async function runLedger(options: {
  readonly kafka: KafkaConnection;
  readonly config: Pick<Config, 'KAFKA_TOPIC_PROFILE'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { kafka, signal } = options;
  const log = options.log.child({ part: 'ledger' });
  const partitionCount = await refuseOtherPartitionCount(kafka, log, signal);
  if (partitionCount === undefined) return;
  const replyPartitionCount = await kafka.partitionCount('wallet.replies');
  const owner = { kafka, log, group: ledgerGroup, ownerId: `${hostname()}/${process.pid}/${randomUUID()}` };
  await ownPartitions(kafka, {
    group: ledgerGroup,
    topic: 'wallet.commands',
    own: (partition, partitionSignal) =>
      ownPartition(owner, { partition, partitionCount, replyPartitionCount }, partitionSignal),
    signal,
  });
}
