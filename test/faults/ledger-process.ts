import { ownLane } from '#api/ledger/lane-owner.ts';
import { partitionsOfLane } from '#api/ledger/lanes.ts';
import { ledgerShape } from '#api/ledger/ledger-shape.ts';
import { parseConfig } from '#infra/config.ts';
import { connectKafka } from '#infra/kafka/connection.ts';
import { createLogger } from '#infra/log.ts';

/**
 * A ledger in a process of its own that owns all lanes without asking any group: what a frozen process
 * believes when it wakes.
 */

const config = parseConfig(process.env);
const log = createLogger(config, `ledger-${process.pid}`);
const kafka = connectKafka(config, { clientId: `ledger-${process.pid}`, log });
const replyPartitionCount = await kafka.partitionCount('wallet.replies');
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
const shape = await ledgerShape(kafka, config, { log, signal: stop.signal });
const { laneCount, partitionCount } = shape ?? { laneCount: 0, partitionCount: 0 };
const owner = { kafka, log, ownerId: String(process.pid), group: 'ledger', onReplies: () => undefined };
await Promise.all(
  Array.from({ length: laneCount }, (_, lane) => {
    const partitions = partitionsOfLane(lane, laneCount, partitionCount);
    return ownLane(owner, { lane, laneCount, partitions, partitionCount, replyPartitionCount }, stop.signal);
  }),
);
