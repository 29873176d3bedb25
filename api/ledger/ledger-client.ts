import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Appender, openAppender } from '#infra/kafka/appender.ts';
import { deleteGroup } from '#infra/kafka/committed-offsets.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { consumeGroup } from '#infra/kafka/group-consumer.ts';
import { reasonOf } from '#infra/kafka/kafka-failure.ts';
import { endOffsets } from '#infra/kafka/log-reader.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import type { Logger } from '#infra/log.ts';
import { cloudEventHeaders } from '#schemas/cloud-event-headers.ts';
import { decodeRecord, encodeRecord } from '#schemas/codec.ts';
import type { CommandReply, RecordTypes } from '#schemas/records.ts';
import type { Command } from './decision.ts';
import { attemptIdHeader, type CommittedReply } from './reply.ts';

/**
 * The ledger did not answer in time. The outcome is unknown: the command may have been accepted. Submitting
 * it again with the same `command_id` is safe and gives the first answer.
 */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable';
  readonly code = 'LEDGER_UNAVAILABLE';
  readonly retryable = true;
}

export type SubmitOptions = Readonly<{
  traceparent?: string | undefined;
  correlationId?: string | undefined;
}>;

/** The owner may decide at the very deadline; its transaction and the reply take some more time. */
const REPLY_GRACE_MS = 1_000;

/**
 * The pause between two looks at the replies in the log while the ledger of this process answers all that is
 * asked here: each look costs the broker about a fourth of what a small transaction does. A first reply from
 * elsewhere comes so much later, and by the fetch that is under way then.
 */
const LEISURE_MS = 100;
/** A reply of this process's ledger is recent for so long; one that only the log told, for longer. */
const RECENT_MS = { heard: 1_000, read: 10_000 };

type Waiting = Readonly<{
  /** Which of several submissions of one command this is. */
  attemptId: string;
  resolve: (reply: CommandReply) => void;
  reject: (error: LedgerUnavailable) => void;
}>;

/** Sends commands to the ledger through Kafka, wherever their owner runs, and waits for the replies. */
export class LedgerClient {
  readonly #kafka: KafkaConnection;
  readonly #log: Logger;
  readonly #appender: Appender;
  readonly #group: string;
  readonly #waiting = new Map<string, Set<Waiting>>();
  readonly #stop = new AbortController();
  /** Where the reading of replies continues; from the end as of the connect, so that no reply is missed. */
  readonly #replyOffsets = new Map<number, number>();
  readonly #listening = new Set<number>();
  #replyPartitionCount = 0;
  /** When a command of this client was last answered by the ledger of this process, and by the log. */
  readonly #answeredAtMs = { heard: 0, read: Date.now() };
  #consuming: Promise<void> = Promise.resolve();

  private constructor(kafka: KafkaConnection, log: Logger, appender: Appender) {
    this.#kafka = kafka;
    this.#log = log;
    this.#appender = appender;
    this.#group = `ledger-replies-${randomUUID()}`;
  }

  /** Connects; `ready()` says when replies can be heard. Rejects with `KafkaUnavailable`. */
  static async connect(options: {
    readonly kafka: KafkaConnection;
    readonly log: Logger;
    readonly signal: AbortSignal;
  }): Promise<LedgerClient> {
    const { kafka, log, signal } = options;
    const appender = await openAppender(kafka, { log });
    const client = new LedgerClient(kafka, log, appender);
    try {
      await client.#listen();
    } catch (error) {
      await appender.close();
      throw error;
    }
    signal.addEventListener('abort', () => void client.close(), { once: true });
    return client;
  }

  /** Whether all partitions of the replies are assigned to this client and read from where it began. */
  ready(): boolean {
    return !this.#stop.signal.aborted && this.#listening.size === this.#replyPartitionCount;
  }

  /**
   * Submits a command and waits for its reply. Rejects with `LedgerUnavailable` past the command's deadline.
   * The same command may be submitted again, also at the same time: each submission hears its own answer.
   */
  submit(command: Command, options: SubmitOptions = {}): Promise<CommandReply> {
    const { command_id: commandId, deadline_at: deadlineAt } = command.value;
    if (this.#stop.signal.aborted)
      return Promise.reject(new LedgerUnavailable('The ledger client is closed'));
    return new Promise((resolve, reject) => {
      const limit = setTimeout(
        () => settle(() => reject(new LedgerUnavailable('The ledger did not answer before the deadline'))),
        Math.max(0, deadlineAt - Date.now()) + REPLY_GRACE_MS,
      );
      const settle = (finish: () => void) => {
        clearTimeout(limit);
        this.#forget(commandId, waiting);
        finish();
      };
      const waiting: Waiting = {
        attemptId: randomUUID(),
        resolve: (reply) => settle(() => resolve(reply)),
        reject: (error) => settle(() => reject(error)),
      };
      this.#await(commandId, waiting);
      this.#append(command, waiting.attemptId, options).catch((error: unknown) =>
        waiting.reject(
          new LedgerUnavailable(`The command may not have reached the ledger: ${reasonOf(error)}`, {
            cause: error,
          }),
        ),
      );
    });
  }

  /** Takes the replies of a ledger in this process, each committed: they come later in wallet.replies as well. */
  hear(replies: readonly CommittedReply[]): void {
    for (const { attemptId, reply } of replies)
      if (this.#answer(reply, attemptId)) this.#answeredAtMs.heard = Date.now();
  }

  /** Stops; what still waits is rejected. The group of the replies is deleted. */
  async close(): Promise<void> {
    if (this.#stop.signal.aborted) return this.#consuming;
    this.#stop.abort();
    for (const waiting of [...this.#waiting.values()].flatMap((set) => [...set]))
      waiting.reject(new LedgerUnavailable('The ledger client was closed before the reply came'));
    this.#consuming = this.#consuming.then(async () => {
      await this.#appender.close();
      await deleteGroup(this.#kafka, this.#group).catch((error: unknown) =>
        this.#log.debug({ reason: reasonOf(error) }, 'The group of the replies stays behind; it expires.'),
      );
    });
    return this.#consuming;
  }

  async #listen(): Promise<void> {
    const ends = await endOffsets(this.#kafka, 'wallet.replies');
    this.#replyPartitionCount = ends.length;
    for (const [partition, end] of ends.entries()) this.#replyOffsets.set(partition, end);
    this.#consuming = consumeGroup(this.#kafka, {
      group: this.#group,
      topics: ['wallet.replies'],
      fromBeginning: false,
      autoCommit: false,
      startOffset: async (_topic, partition) => {
        this.#listening.add(partition);
        return this.#replyOffsets.get(partition);
      },
      onRevoked: (revoked) => {
        for (const { partition } of revoked) this.#listening.delete(partition);
      },
      onPosition: (_topic, partition, nextOffset) => this.#replyOffsets.set(partition, nextOffset),
      onBatch: async ({ records }) => {
        for (const record of records) this.#receive(record);
        if (this.#isAnsweredHere())
          await delay(LEISURE_MS, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      },
      signal: this.#stop.signal,
    });
    this.#consuming.catch((error: unknown) =>
      this.#log.error({ reason: reasonOf(error) }, 'The replies cannot be read any more.'),
    );
  }

  #receive(record: ReadRecord): void {
    if (!this.#waiting.has(record.key)) return;
    const { name, value } = decodeRecord(record.value);
    if (name !== 'CommandReply') return;
    if (this.#answer(value, record.headers[attemptIdHeader])) this.#answeredAtMs.read = Date.now();
  }

  #isAnsweredHere(): boolean {
    const { heard, read } = this.#answeredAtMs;
    const nowMs = Date.now();
    return nowMs - heard < RECENT_MS.heard && nowMs - read > RECENT_MS.read;
  }

  /** Whether somebody waited for this reply. */
  #answer(reply: CommandReply, attemptId: string | undefined): boolean {
    const waiting = [...(this.#waiting.get(reply.command_id) ?? [])];
    const answered = waiting.filter((one) => attemptId === undefined || attemptId === one.attemptId);
    for (const { resolve } of answered) resolve(reply);
    return answered.length > 0;
  }

  #await(commandId: string, waiting: Waiting): void {
    const together = this.#waiting.get(commandId) ?? new Set();
    together.add(waiting);
    this.#waiting.set(commandId, together);
  }

  #forget(commandId: string, waiting: Waiting): void {
    const together = this.#waiting.get(commandId);
    together?.delete(waiting);
    if (together?.size === 0) this.#waiting.delete(commandId);
  }

  async #append(
    { name, value }: Command,
    attemptId: string,
    { traceparent, correlationId }: SubmitOptions,
  ): Promise<void> {
    await this.#appender.append([
      {
        topic: 'wallet.commands',
        key: String(value.team_id),
        value: encodeRecord(name, value as RecordTypes[typeof name]),
        headers: {
          ...cloudEventHeaders({
            id: value.command_id,
            type: name,
            source: 'api',
            timeMs: value.issued_at,
            subject: `team/${value.team_id}`,
            correlationId: correlationId ?? value.command_id,
            traceparent,
          }),
          [attemptIdHeader]: attemptId,
        },
      },
    ]);
  }
}
