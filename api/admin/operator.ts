import { userInfo } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Config } from '#infra/config.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { KafkaFailure } from '#infra/kafka/kafka-failure.ts';
import { createLogger, type Logger } from '#infra/log.ts';
import { openPool } from '#infra/postgres/pool.ts';
import { type ProjectionWatch, watchProjection } from '#infra/postgres/projection-watch.ts';
import type { CommandReply } from '#schemas/records.ts';
import { COMMAND_DEADLINE_MS, commandEnvelope } from '../command-envelope.ts';
import type { Command } from '../ledger/decision.ts';
import { LedgerClient, LedgerUnavailable } from '../ledger/ledger-client.ts';

/** The service said no, or could not be asked; `message` is for the operator. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

const PROJECTION_LIMIT_MS = 10_000;
const SUBMIT_TRIES = 3;
const CONNECT_TRIES = 5;
const CONNECT_AGAIN_MS = 500;

/** What an operator's command works with. Connections are opened by the first that needs them. */
export class Operator {
  readonly config: Config;
  readonly log: Logger;
  readonly actor = `operator:${userInfo().username}`;
  readonly #stop = new AbortController();
  #pool: pg.Pool | undefined;
  #kafka: KafkaConnection | undefined;
  #watch: ProjectionWatch | undefined;
  #ledger: Promise<LedgerClient> | undefined;

  constructor(config: Config) {
    this.config = config;
    // Warnings of clients that retry by themselves would only frighten; the outcome is told in words.
    this.log = createLogger({ LOG_LEVEL: config.LOG_LEVEL === 'info' ? 'error' : config.LOG_LEVEL }, 'admin');
  }

  get pool(): pg.Pool {
    this.#pool ??= openPool({ ...this.config, DATABASE_POOL_SIZE: 2 }, this.log, 'clipledger-admin');
    return this.#pool;
  }

  get kafka(): KafkaConnection {
    this.#kafka ??= connectKafka(this.config, { clientId: 'clipledger-admin', log: this.log });
    return this.#kafka;
  }

  get watch(): ProjectionWatch {
    this.#watch ??= watchProjection({ config: this.config, log: this.log, signal: this.#stop.signal });
    return this.#watch;
  }

  /** The envelope of a command for `teamId`, given by this operator now. */
  envelope(teamId: number) {
    return commandEnvelope({ teamId, actor: this.actor, now: new Date() });
  }

  /** Sends a command and returns once what it wrote can be read, or says on stderr that this takes longer. */
  async submit(command: Command): Promise<CommandReply> {
    const { watch } = this;
    const reply = await this.#decided(command);
    if (!(await watch.waitFor(reply.positions, PROJECTION_LIMIT_MS)))
      process.stderr.write(
        'It is done, but the projector has not shown it within 10 s: reads may lag. Is it running?\n',
      );
    return reply;
  }

  /**
   * The ledger's answer. While an api starts or stops, partitions change hands and commands wait; the same
   * command id makes sending it again safe.
   */
  async #decided(command: Command): Promise<CommandReply> {
    this.#ledger ??= this.#connect();
    const ledger = await this.#ledger;
    for (let tryNumber = 1; tryNumber <= SUBMIT_TRIES; tryNumber += 1) {
      try {
        const reply = await ledger.submit(withFreshDeadline(command));
        if (reply.refusal !== 'DeadlinePassed') return reply;
      } catch (error) {
        if (!(error instanceof LedgerUnavailable)) throw error;
      }
    }
    throw new Refused(
      'The ledger did not answer, so it is not known whether this was done. Is the api running? Look before you repeat it.',
    );
  }

  /** Topics that were made a moment ago have no leader yet, which passes. */
  async #connect(): Promise<LedgerClient> {
    const { kafka, log } = this;
    for (let tryNumber = 1; ; tryNumber += 1) {
      try {
        return await LedgerClient.connect({ kafka, log, signal: this.#stop.signal });
      } catch (error) {
        const mayPass = error instanceof KafkaFailure && error.retryable;
        if (!mayPass || tryNumber === CONNECT_TRIES) throw error;
        await delay(CONNECT_AGAIN_MS);
      }
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await (await this.#ledger?.catch(() => undefined))?.close();
    await this.#watch?.close();
    await this.#pool?.end();
  }
}

function withFreshDeadline({ name, value }: Command): Command {
  const now = Date.now();
  return { name, value: { ...value, issued_at: now, deadline_at: now + COMMAND_DEADLINE_MS } } as Command;
}
