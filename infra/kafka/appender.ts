import { setTimeout as delay } from 'node:timers/promises';
import type { Producer } from 'kafkajs';
import type { Logger } from '../log.ts';
import type { KafkaConnection } from './connection.ts';
import { KafkaUnavailable, reasonOf } from './kafka-failure.ts';
import { openProducer, sendRecords } from './producer-send.ts';
import type { LogPosition, RecordToAppend } from './record.ts';

/** Appends records and says where they are. */
export interface Appender {
  /**
   * Appends all of `records` (in order per partition) and resolves with their positions, in their order.
   * Rejects with `KafkaUnavailable`: the records may or may not be in the log then.
   */
  append(records: readonly RecordToAppend[]): Promise<readonly LogPosition[]>;
  /** Sends what is waiting and closes; appends after it are rejected. */
  close(): Promise<void>;
}

const QUEUED_RECORDS = 100_000;
/** kafkajs groups a send's records in quadratic time; at this size that is still a fraction of a millisecond. */
const SEND_RECORDS = 1_000;
/** With one send outstanding the broker tells a repeated one from a new one, so trying often is safe. */
const SEND_RETRY = { retries: 100, initialRetryTime: 20, maxRetryTime: 500 };
/** A breath before a new producer after a failure, so that a refusing broker is not hammered. */
const REOPEN_MS = 100;

type Waiting = Readonly<{
  records: readonly RecordToAppend[];
  resolve: (positions: readonly LogPosition[]) => void;
  reject: (error: KafkaUnavailable) => void;
}>;

/**
 * Opens an idempotent producer with `acks=all` behind a micro-batcher: ONE `send()` is outstanding at any
 * time, and what queues up meanwhile goes with the next. With several, kafkajs gives a timed-out send's
 * sequence numbers to the next one, and acknowledged records are lost and doubled.
 */
export async function openAppender(
  kafka: KafkaConnection,
  options: { readonly log: Logger; readonly signal?: AbortSignal },
): Promise<Appender> {
  const appender = new BatchingAppender(kafka, options.log);
  options.signal?.addEventListener('abort', () => void appender.close(), { once: true });
  await appender.open();
  return appender;
}

class BatchingAppender implements Appender {
  readonly #kafka: KafkaConnection;
  readonly #log: Logger;
  #producer: Producer | undefined;
  #queue: Waiting[] = [];
  #queuedRecords = 0;
  #sending: Promise<void> | undefined;
  #closed = false;

  constructor(kafka: KafkaConnection, log: Logger) {
    this.#kafka = kafka;
    this.#log = log;
  }

  async open(): Promise<void> {
    this.#producer = await openProducer(this.#kafka, { retry: SEND_RETRY });
  }

  append(records: readonly RecordToAppend[]): Promise<readonly LogPosition[]> {
    if (this.#closed) return Promise.reject(new KafkaUnavailable('The appender is closed'));
    if (this.#queuedRecords + records.length > QUEUED_RECORDS)
      return Promise.reject(new KafkaUnavailable(`More than ${QUEUED_RECORDS} records wait to be sent`));
    return new Promise((resolve, reject) => {
      this.#queue.push({ records, resolve, reject });
      this.#queuedRecords += records.length;
      this.#sending ??= this.#sendAll();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#sending;
    await this.#producer?.disconnect().catch(() => undefined);
    this.#producer = undefined;
  }

  async #sendAll(): Promise<void> {
    // One turn of the event loop lets callers that were woken together go together.
    await new Promise(setImmediate);
    try {
      while (this.#queue.length > 0) await this.#send(this.#takeBatch());
    } finally {
      // In the same turn as the last look at the queue: what is queued after it must start the next sending.
      this.#sending = undefined;
    }
  }

  #takeBatch(): readonly Waiting[] {
    let taken = 0;
    let records = 0;
    for (const waiting of this.#queue) {
      if (taken > 0 && records + waiting.records.length > SEND_RECORDS) break;
      records += waiting.records.length;
      taken += 1;
    }
    this.#queuedRecords -= records;
    return this.#queue.splice(0, taken);
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    try {
      this.#producer ??= await openProducer(this.#kafka, { retry: SEND_RETRY });
      const positions = await sendRecords(
        this.#kafka,
        this.#producer,
        batch.flatMap(({ records }) => records),
      );
      let from = 0;
      for (const { records, resolve } of batch) {
        resolve(positions.slice(from, from + records.length));
        from += records.length;
      }
    } catch (error) {
      this.#log.warn({ reason: reasonOf(error) }, 'Appending to Kafka failed; the producer is made anew.');
      const failure = new KafkaUnavailable('Kafka did not confirm an append', error);
      for (const { reject } of batch) reject(failure);
      await this.#discardProducer();
    }
  }

  async #discardProducer(): Promise<void> {
    await this.#producer?.disconnect().catch(() => undefined);
    this.#producer = undefined;
    await delay(REOPEN_MS);
  }
}
