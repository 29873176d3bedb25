import { ownPartition } from '#api/ledger/partition-owner.ts';
import { parseConfig } from '#infra/config.ts';
import { connectKafka } from '#infra/kafka/connection.ts';
import { createLogger } from '#infra/log.ts';

/**
 * A ledger in a process of its own that owns all partitions without asking any group: what a frozen process
 * believes when it wakes.
 */

const config = parseConfig(process.env);
const log = createLogger(config, `ledger-${process.pid}`);
const kafka = connectKafka(config, { clientId: `ledger-${process.pid}`, log });
const partitionCount = await kafka.partitionCount('wallet.commands');
const replyPartitionCount = await kafka.partitionCount('wallet.replies');
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
const owner = { kafka, log, ownerId: String(process.pid), group: 'ledger' };
await Promise.all(
  Array.from({ length: partitionCount }, (_, partition) =>
    ownPartition(owner, { partition, partitionCount, replyPartitionCount }, stop.signal),
  ),
);
