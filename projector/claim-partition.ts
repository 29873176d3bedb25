import type pg from 'pg';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { partitionBounds } from '#infra/kafka/log-reader.ts';
import type { TopicPartition } from '#infra/kafka/record.ts';
import { inTransaction } from '#infra/postgres/transaction.ts';
import { topics } from '#schemas/topics.ts';
import { insertMissingPositions, lockPositions, savePositions } from './positions.ts';

/** The log and the read model do not belong together, or the log has lost what the rows need. */
export class LogMismatch extends Error {
  override readonly name = 'LogMismatch';
}

/**
 * The offset from which this projector writes the partition. Reading it waits for whoever is writing the
 * partition at the moment, so it is the newest there is. Throws `LogMismatch` when the log cannot continue
 * the rows: it ends before the position, or what it is to keep for ever does not begin where it should.
 */
export async function claimPartition(
  pool: pg.Pool,
  kafka: KafkaConnection,
  at: TopicPartition,
): Promise<number> {
  const { beginning, end } = await partitionBounds(kafka, at);
  return inTransaction(pool, async (client) => {
    await insertMissingPositions(client, [at]);
    const recorded = (await lockPositions(client, [at]))[0]?.nextOffset ?? 0;
    if (recorded > end) throw beyondTheEnd(at, recorded, end);
    if (recorded >= beginning) return recorded;
    if (topics[at.topic].kept === 'for-ever' && beginning > 0) throw historyIsGone(at, recorded, beginning);
    await savePositions(client, [{ ...at, nextOffset: beginning }]);
    return beginning;
  });
}

function beyondTheEnd({ topic, partition }: TopicPartition, recorded: number, end: number): LogMismatch {
  return new LogMismatch(
    `The rows hold ${topic}/${partition} up to offset ${recorded}, but the log ends at ${end}: this is another ` +
      'Kafka cluster or topic prefix, or the log was lost. Set KAFKA_BROKERS and KAFKA_TOPIC_PREFIX to the log ' +
      'that the rows were made from; if this log is the right one, `npm run admin -- rebuild` makes the rows anew.',
  );
}

function historyIsGone(
  { topic, partition }: TopicPartition,
  recorded: number,
  beginning: number,
): LogMismatch {
  return new LogMismatch(
    `${topic}/${partition} begins at offset ${beginning}, but the rows need it from ${recorded} on: events were ` +
      'deleted from a topic that is kept for ever. Restore the topic and set its retention.ms to -1.',
  );
}
