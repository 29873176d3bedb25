import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '#infra/config.ts';
import { openAppender } from '#infra/kafka/appender.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { EndOffsets } from '#infra/kafka/end-offsets.ts';
import { KafkaFailure } from '#infra/kafka/kafka-failure.ts';
import { partitionOf } from '#infra/kafka/partitioner.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import type { Logger } from '#infra/log.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { openPool } from '#infra/postgres/pool.ts';
import { watchProjection } from '#infra/postgres/projection-watch.ts';
import { openSourceAccess } from '#infra/sources/source-access.ts';
import type { HttpService } from './http/http-service.ts';
import { buildServer } from './http/server.ts';
import { Turns } from './http/turns.ts';
import { UploadGate } from './http/uploads/upload-gate.ts';
import { LateAppender } from './late-appender.ts';
import { LateLedger } from './late-ledger.ts';
import { runLedger } from './ledger/ledger.ts';
import { LedgerClient } from './ledger/ledger-client.ts';
import type { CommittedReply } from './ledger/reply.ts';
import { logFreshness } from './log-freshness.ts';
import { checkReadiness, untilTables } from './readiness.ts';
import { followRevocations, RevokedKeys } from './revoked-keys.ts';
import { watchDeadlines } from './settlement/deadline.ts';
import { runSettlement } from './settlement/run-settlement.ts';
import { runWebhooks } from './webhooks/run-webhooks.ts';

const KAFKA_RETRY_MS = 1_000;
/** Requests in progress get this long to end; each is bounded by less. */
const DRAIN_LIMIT_MS = 8_000;
/** Looking at a source may take its whole size on disk, where its server knows no ranges. */
const PROBES = { atOnce: 8, ofTeam: 4, waiting: 200 };
/** One of a team at a time, so that its keys can be counted before each. */
const KEY_CREATIONS = { atOnce: 100, ofTeam: 1, waiting: 200 };

/** What has to be rows before clients are told about keys and money; a missing job is looked for in the log. */
const readableTopics = ['team.events', 'wallet.events'] as const;

/**
 * Runs one instance until `stopping` aborts, then ends what is in progress and closes everything. Rejects when
 * a part failed for good, such as a port that is taken or a cluster of another shape.
 */
export async function runApi(options: {
  readonly config: Config;
  readonly log: Logger;
  readonly stopping: AbortSignal;
  /** The cluster by another way than the settings', such as a tunnel. */
  readonly kafka?: KafkaConnection;
  readonly onListening?: (url: string) => void;
}): Promise<void> {
  const { config, log, stopping } = options;
  const now = () => new Date();
  const failed = new AbortController();
  const work = new AbortController();
  const { signal } = work;

  const sources = await openSourceAccess(config, log);
  const pool = openPool(config, log, 'clipledger-api');
  const storage = ObjectStorage.connect(storageSettings(config));
  const kafka = options.kafka ?? connectKafka(config, { clientId: 'clipledger-api', log });
  const watch = watchProjection({ config, log, signal });
  const ends = new EndOffsets(kafka, ['team.events', 'wallet.events', 'job.events']);
  const freshness = logFreshness({ endOffsets: (topic) => ends.read(topic), partitionOf, watch });
  const ledger = new LateLedger();
  const appending = new LateAppender();
  const readiness = () => checkReadiness({ ledger, pool, watch });
  const revokedKeys = new RevokedKeys();
  const uploads = new UploadGate(config.UPLOADS_AT_ONCE, config.UPLOADS_PER_TEAM);
  const service: HttpService = {
    config,
    log,
    pool,
    ledger,
    appender: appending,
    watch,
    freshness,
    storage,
    uploads,
    sources,
    probes: new Turns(PROBES),
    revokedKeys,
    keyCreations: new Turns(KEY_CREATIONS),
    readiness,
    now,
  };
  const server = buildServer(service);
  const address = await server.listen({ host: config.HOST, port: config.PORT });
  log.info({ address }, 'The API listens.');
  options.onListening?.(address);

  const parts = startParts().catch(fail);
  const ending = AbortSignal.any([stopping, failed.signal]);
  const webhooks = untilTables(pool, ending).then(() =>
    runWebhooks(service, { stopping: ending, abandoning: signal }),
  );
  await aborted(ending);
  log.info('The API stops: no new requests, what runs is finished.');
  await Promise.race([Promise.all([server.close(), webhooks]), delay(DRAIN_LIMIT_MS)]);
  work.abort();
  await Promise.all([parts, webhooks]);
  await ledger.close();
  await watch.close();
  await ends.close();
  await pool.end();
  storage.close();
  await sources.close();
  log.info('The API has stopped.');
  failed.signal.throwIfAborted();

  /** Everything that needs Kafka; each part heals by itself once it runs. */
  async function startParts(): Promise<void> {
    await whenKafkaAnswers(() => ensureTopics(kafka, config));
    // Before it is known what the rows must hold: so each revocation is heard of here, or is in them.
    const following = await whenKafkaAnswers(() => followRevocations(kafka, revokedKeys, signal));
    await whenKafkaAnswers(async () => watch.expect(await freshness.lastRecords(readableTopics)));
    let client: LedgerClient | undefined;
    // Who waits here for what this process decides hears it without the way through wallet.replies.
    const onReplies = (replies: readonly CommittedReply[]) => client?.hear(replies);
    const running = [runLedger({ kafka, config, log, signal, onReplies }).catch(fail)];
    if (following !== undefined) running.push(following.ended.catch(fail));
    client = await whenKafkaAnswers(() => LedgerClient.connect({ kafka, log, signal }));
    if (client !== undefined) ledger.connected(client);
    const { REFUND_FAILED_CLIPS: refundFailedClips, JOB_DEADLINE: jobDeadlineMs } = config;
    running.push(runSettlement(kafka, { ledger, refundFailedClips, log, now }, signal).catch(fail));
    const appender = await whenKafkaAnswers(() => openAppender(kafka, { log }));
    if (appender !== undefined) {
      appending.connected(appender);
      const deadlines = { pool, appender, freshness, log, now, jobDeadlineMs };
      running.push(untilTables(pool, signal).then(() => watchDeadlines(deadlines, signal)));
    }
    await Promise.all(running);
    await appender?.close();
  }

  function fail(error: unknown): void {
    log.fatal({ err: error }, 'A part of the API failed for good; the process ends.');
    failed.abort(error);
  }

  /** What `connect` gives, tried until Kafka is there; undefined when the process is to stop first. */
  async function whenKafkaAnswers<Value>(connect: () => Promise<Value>): Promise<Value | undefined> {
    while (!signal.aborted) {
      try {
        return await connect();
      } catch (error) {
        if (error instanceof KafkaFailure && !error.retryable) throw error;
        log.warn({ err: error }, 'Kafka does not answer yet; trying again.');
        await delay(KAFKA_RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    return undefined;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
