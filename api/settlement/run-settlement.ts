import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { consumeGroup } from '#infra/kafka/group-consumer.ts';
import { type Settlement, settleBatch } from './settle-items.ts';

/**
 * Settles items as their jobs' events come in, until `signal` aborts. A batch's offset is committed only
 * after the ledger has answered for all of it, so what a crash interrupts is settled again.
 */
export function runSettlement(
  kafka: KafkaConnection,
  settlement: Settlement,
  signal: AbortSignal,
): Promise<void> {
  return consumeGroup(kafka, {
    group: 'settlement',
    topics: ['job.events'],
    fromBeginning: true,
    autoCommit: true,
    onBatch: (batch, control) => settleBatch(batch, control, settlement),
    signal,
  });
}
