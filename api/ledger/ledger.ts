import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { ownPartitions } from '#infra/kafka/partition-ownership.ts';
import type { Logger } from '#infra/log.ts';
import { ownLane } from './lane-owner.ts';
import { partitionsOfLane } from './lanes.ts';
import { type LedgerSettings, ledgerShape } from './ledger-shape.ts';
import type { CommittedReply } from './reply.ts';

/** The consumer group whose members share the lanes of wallet.commands among them. */
export const ledgerGroup = 'ledger';

/**
 * Runs this process's share of the ledger until `signal` aborts: owns the lanes that the group gives it, and
 * decides their commands. Kafka's outages are waited out. Rejects when the log says that it began with other
 * counts of partitions or lanes, or when a chain in the log is broken. `onReplies` hears the replies of each
 * transaction as soon as it is committed, before they can be read in wallet.replies.
 */
export async function runLedger(options: {
  readonly kafka: KafkaConnection;
  readonly config: LedgerSettings;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onReplies?: (replies: readonly CommittedReply[]) => void;
}): Promise<void> {
  const { kafka, config, signal, onReplies = () => undefined } = options;
  const log = options.log.child({ part: 'ledger' });
  const shape = await ledgerShape(kafka, config, { log, signal });
  if (shape === undefined) return;
  const { laneCount, partitionCount } = shape;
  const replyPartitionCount = await kafka.partitionCount('wallet.replies');
  const ownerId = `${hostname()}/${process.pid}/${randomUUID()}`;
  const owner = { kafka, log, group: ledgerGroup, ownerId, onReplies };
  await ownPartitions(kafka, {
    group: ledgerGroup,
    topic: 'wallet.commands',
    // A lane belongs to whom the group gives its lowest partition; who has the others has nothing by that.
    own: async (lane, laneSignal) => {
      if (lane >= laneCount) return;
      const partitions = partitionsOfLane(lane, laneCount, partitionCount);
      await ownLane(owner, { lane, laneCount, partitions, partitionCount, replyPartitionCount }, laneSignal);
    },
    signal,
  });
}
