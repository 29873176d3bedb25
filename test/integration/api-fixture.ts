import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { pino } from 'pino';
import { apiKeyPrefix, hashApiKey, newApiKey } from '#api/api-key.ts';
import { COMMAND_DEADLINE_MS, commandEnvelope } from '#api/command-envelope.ts';
import type { Command } from '#api/ledger/decision.ts';
import { LedgerClient, LedgerUnavailable } from '#api/ledger/ledger-client.ts';
import { runApi } from '#api/run-api.ts';
import { parseConfig } from '#infra/config.ts';
import { type BrokerAddress, connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { endOffsets } from '#infra/kafka/log-reader.ts';
import { dropReadModel } from '#infra/postgres/drop-read-model.ts';
import { openPool } from '#infra/postgres/pool.ts';
import { type ProjectionWatch, watchProjection } from '#infra/postgres/projection-watch.ts';
import { ProjectorStatus } from '#projector/projector-status.ts';
import { runProjector } from '#projector/run-projector.ts';
import type { CommandReply } from '#schemas/records.ts';
import { createTenant } from '#test/stack/tenant.ts';

/**
 * Instances of the api and a projector in the test's own process, on the real Kafka and Postgres: so a
 * test can lead any of them through a proxy of its own.
 */

type Environment = Readonly<Record<string, string>>;

/** ffmpeg is where the test's own process finds it. */
const programs: Environment = { PATH: process.env['PATH'] ?? '' };

const log = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' }, pino.destination(2));

export type Team = Readonly<{ teamId: number; key: string; keyId: string }>;

export class ApiFixture {
  readonly environment: Environment;
  readonly pool: pg.Pool;
  readonly kafka: KafkaConnection;
  readonly log = log;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>[] = [];
  readonly watch: ProjectionWatch;
  #ledger: LedgerClient | undefined;
  #nextTeamId = 1;
  #stopProjector = async (): Promise<void> => undefined;

  private constructor(environment: Environment) {
    this.environment = environment;
    const config = parseConfig(environment);
    this.pool = openPool(config, log, 'test');
    this.kafka = connectKafka(config, { clientId: 'test', log });
    this.watch = watchProjection({ config, log, signal: this.#stop.signal });
  }

  /** A tenant of its own, with a projector on it. */
  static async open(settings: Environment = {}): Promise<ApiFixture> {
    const { env } = await createTenant();
    const fixture = new ApiFixture({ ...env, ...programs, PORT: '0', HOST: '127.0.0.1', ...settings });
    fixture.startProjector();
    return fixture;
  }

  startProjector(): void {
    const config = parseConfig(this.environment);
    const pool = openPool(config, log, 'test-projector');
    const kafka = connectKafka(config, { clientId: 'test-projector', log });
    const parts = { kafka, pool, log, status: new ProjectorStatus() };
    const stop = new AbortController();
    const ended = runProjector(parts, config, AbortSignal.any([stop.signal, this.#stop.signal])).finally(() =>
      pool.end(),
    );
    this.#running.push(ended);
    this.#stopProjector = async () => {
      stop.abort();
      await ended;
    };
  }

  /** From now on nothing becomes rows, until the next `startProjector`. */
  stopProjector(): Promise<void> {
    return this.#stopProjector();
  }

  /** Starts an instance and waits until it is ready. */
  async startApi(
    settings: Environment = {},
    routeTo?: (broker: BrokerAddress) => BrokerAddress,
  ): Promise<ApiInstance> {
    const config = parseConfig({ ...this.environment, ...settings });
    const kafka = connectKafka(config, {
      clientId: 'test-api',
      log,
      ...(routeTo === undefined ? {} : { routeTo }),
    });
    const stop = new AbortController();
    const listening = Promise.withResolvers<string>();
    const stopping = AbortSignal.any([stop.signal, this.#stop.signal]);
    const ended = runApi({
      config,
      log,
      kafka,
      stopping,
      onListening: listening.resolve,
    });
    ended.catch(listening.reject);
    this.#running.push(ended);
    const instance = new ApiInstance(await listening.promise, async () => {
      stop.abort();
      await ended;
    });
    await instance.untilReady();
    return instance;
  }

  /** A team with a key; with money and active billing unless told otherwise. */
  async createTeam(given: { cents?: number; isActive?: boolean; expiresAt?: Date } = {}): Promise<Team> {
    const teamId = this.#nextTeamId++;
    await this.submit({ name: 'CreateTeam', value: { ...operatorEnvelope(teamId), name: `Team ${teamId}` } });
    if (given.isActive ?? true)
      await this.submit({ name: 'ActivateBilling', value: operatorEnvelope(teamId) });
    const cents = given.cents ?? 10_000;
    if (cents > 0) await this.topUp(teamId, cents);
    return { teamId, ...(await this.createKey(teamId, given.expiresAt)) };
  }

  async createKey(teamId: number, expiresAt?: Date): Promise<{ key: string; keyId: string }> {
    const key = newApiKey();
    const keyId = crypto.randomUUID();
    const value = {
      ...operatorEnvelope(teamId),
      key_id: keyId,
      name: 'Test key',
      prefix: apiKeyPrefix(key),
      key_hash: hashApiKey(key),
      expires_at: expiresAt?.getTime() ?? null,
    };
    await this.submit({ name: 'CreateApiKey', value });
    return { key, keyId };
  }

  async topUp(teamId: number, cents: number): Promise<void> {
    const value = { ...operatorEnvelope(teamId), amount_cents: cents, reference: crypto.randomUUID() };
    await this.submit({ name: 'TopUpWallet', value });
  }

  /** What an operator's command begins with. */
  envelope(teamId: number) {
    return operatorEnvelope(teamId);
  }

  /** Has the ledger accept a command and waits until it can be read. */
  async submit(command: Command): Promise<CommandReply> {
    this.#ledger ??= await LedgerClient.connect({ kafka: this.kafka, log, signal: this.#stop.signal });
    const reply = await this.#decided(this.#ledger, command);
    if (reply.refusal !== null) throw new Error(`The ledger refused ${command.name}: ${reply.refusal}`);
    if (!(await this.watch.waitFor(reply.positions, 10_000))) throw new Error('Not projected within 10 s.');
    return reply;
  }

  /** Instances that have just started may still share out the ledger's partitions, and a busy machine is slow; then it is asked again. */
  async #decided(ledger: LedgerClient, command: Command): Promise<CommandReply> {
    for (let triesLeft = 5; ; triesLeft -= 1) {
      const deadline_at = Date.now() + COMMAND_DEADLINE_MS;
      const again = { name: command.name, value: { ...command.value, deadline_at } } as Command;
      try {
        const reply = await ledger.submit(again);
        if (reply.refusal !== 'DeadlinePassed' || triesLeft === 0) return reply;
      } catch (error) {
        if (!(error instanceof LedgerUnavailable) || triesLeft === 0) throw error;
      }
    }
  }

  /** Drops the read model and waits until the projector has built it again. */
  async rebuild(): Promise<void> {
    const ends = await Promise.all(
      (['team.events', 'wallet.events', 'job.events'] as const).map(async (topic) =>
        (await endOffsets(this.kafka, topic)).map((end, partition) => ({
          topic,
          partition,
          offset: end - 1,
        })),
      ),
    );
    await dropReadModel(this.pool);
    const written = ends.flat().filter(({ offset }) => offset >= 0);
    await until('the projector to begin again', () => this.watch.waitFor(written, 1_000));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#ledger?.close();
    await Promise.allSettled(this.#running);
    await this.watch.close();
    await this.pool.end();
  }
}

/** One instance of the api, as a client sees it. */
export class ApiInstance {
  readonly url: string;
  readonly stop: () => Promise<void>;

  constructor(url: string, stop: () => Promise<void>) {
    this.url = url;
    this.stop = stop;
  }

  async request(
    method: string,
    path: string,
    given: { key?: string | undefined; body?: unknown; headers?: Record<string, string>; raw?: string } = {},
  ): Promise<ApiAnswer> {
    const text = given.raw ?? (given.body === undefined ? undefined : JSON.stringify(given.body));
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(given.key === undefined ? {} : { 'x-api-key': given.key }),
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...given.headers,
      },
      ...(text === undefined ? {} : { body: text }),
    });
    const body = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(body) : body };
  }

  async untilReady(): Promise<void> {
    let reasons: unknown;
    const isReady = async () => {
      const { status, body } = await this.request('GET', '/health/ready');
      reasons = body['reasons'];
      return status === 200;
    };
    await until(`${this.url} to be ready`, isReady, READY_LIMIT_MS).catch((cause: unknown) => {
      throw new Error(`The API at ${this.url} did not become ready: ${JSON.stringify(reasons)}`, { cause });
    });
  }
}

export type ApiAnswer = Readonly<{ status: number; headers: Headers; body: Record<string, unknown> }>;

const POLL_MS = 50;
/** Taking over partitions waits for the whole group, and on a busy machine that takes long. */
const READY_LIMIT_MS = 60_000;

/** Asks until the answer is yes; an error counts as no. */
export async function until(what: string, ask: () => Promise<boolean>, limitMs = 30_000): Promise<void> {
  const endMs = Date.now() + limitMs;
  while (!(await ask().catch(() => false))) {
    if (Date.now() > endMs) throw new Error(`Waited ${limitMs} ms in vain for ${what}.`);
    await delay(POLL_MS);
  }
}

const operatorEnvelope = (teamId: number) =>
  commandEnvelope({ teamId, actor: 'operator:test', now: new Date() });
