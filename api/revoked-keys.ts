import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { followTopic } from '#infra/kafka/follow-topic.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import { decodeRecord, UnreadableRecord } from '#schemas/codec.ts';

/** The rows have long caught up with what was revoked so many keys ago. */
const maxRemembered = 100_000;

/**
 * The keys that were revoked since this instance started, as the log says: rows lag behind it for as long as the
 * projector does, and a revoked key must not work meanwhile.
 */
export class RevokedKeys {
  readonly #keyIds = new Set<string>();

  has(keyId: string): boolean {
    return this.#keyIds.has(keyId);
  }

  note(keyId: string): void {
    this.#keyIds.add(keyId);
    const [oldest] = this.#keyIds;
    if (this.#keyIds.size > maxRemembered && oldest !== undefined) this.#keyIds.delete(oldest);
  }
}

/**
 * Notes every key that is revoked from now on, until `signal` aborts. Resolves once nothing can be missed any
 * more; `ended` resolves when it is over. What was revoked before is for the rows to say.
 */
export const followRevocations = (
  kafka: KafkaConnection,
  revoked: RevokedKeys,
  signal: AbortSignal,
): Promise<Readonly<{ ended: Promise<void> }>> =>
  followTopic(kafka, 'team.events', (record) => noteIn(record, revoked), signal);

/** A record of a newer version is no revocation that this one knows; the projector says so aloud. */
function noteIn({ value }: ReadRecord, revoked: RevokedKeys): void {
  try {
    const event = decodeRecord(value);
    if (event.name === 'ApiKeyRevoked') revoked.note(event.value.key_id);
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
  }
}
