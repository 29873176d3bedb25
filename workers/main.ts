import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '#infra/config.ts';
import { resolveConfig } from '#infra/embedded/resolve-config.ts';
import { startHealthServer } from '#infra/health-server.ts';
import { connectKafka } from '#infra/kafka/connection.ts';
import { KafkaFailure } from '#infra/kafka/kafka-failure.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';
import { MediaToolsMissing } from '#infra/media/media-tools.ts';
import { metrics } from '#infra/metrics.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { openSourceAccess } from '#infra/sources/source-access.ts';
import { FontUnusable } from './clip/overlays/font-file.ts';
import { FontStore } from './clip/overlays/font-store.ts';
import { analyseVideo, checkMusic, fetchMusic, fetchSource, planClips, renderClip } from './clip/pipeline.ts';
import { languageModelOf } from './language-model.ts';
import { assertSpeechModel, speechSettings } from './media/speech/speech-settings.ts';
import { ModelStore, ModelUnusable } from './models/model-store.ts';
import { keepRetention } from './runtime/retention.ts';
import { WorkFolders } from './runtime/work-folders.ts';
import { startWorker, type Worker } from './runtime/worker.ts';
import { createWorkerMetrics } from './runtime/worker-metrics.ts';
import { SwapEngineNotConfigured } from './swap/contract.ts';
import { assertSwapEngine } from './swap/engine/open-engine.ts';
import { swapMaking } from './swap/runtime/swap-making.ts';

/** The worker process: plans jobs, renders clips and swaps faces. Any number of them share the work. */

const RETRY_MS = 1_000;
/** How far a worker looks ahead for teams to take turns with; some 1 kB each. */
const MAX_UNFINISHED_PER_PARTITION = 200;
/** Just under the 10 s that Docker waits before it kills. */
const STOP_LIMIT_MS = 9_500;

/** What is wrong then is the operator's to mend, and the message says how. */
const operatorsErrors = [
  ConfigError,
  MediaToolsMissing,
  ModelUnusable,
  FontUnusable,
  SwapEngineNotConfigured,
];

const stopping = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stopping.abort());

await run(stopping.signal).catch((error: Error) => {
  const isOperators = operatorsErrors.some((kind) => error instanceof kind);
  process.stderr.write(`${isOperators ? error.message : String(error.stack)}\n`);
  process.exitCode = 1;
});
process.exit();

async function run(signal: AbortSignal): Promise<void> {
  const config = await resolveConfig(process.env, ['KAFKA_BROKERS']);
  const log = createLogger(config, 'workers');
  const models = await ModelStore.open(config.MODELS_DIR);
  await models.verifyAll();
  const speech = speechSettings(config);
  await assertSpeechModel(speech, models);
  await FontStore.open(config.FONTS_DIR);
  const sources = await openSourceAccess(config, log);
  const swaps = swapMaking(config, sources);
  await assertSwapEngine(swaps.settings, config.MODELS_DIR);
  const kafka = connectKafka(config, { clientId: 'clipledger-workers', log });
  const storage = ObjectStorage.connect(storageSettings(config));
  const folders = await WorkFolders.open(config.WORK_DIR);
  const workerMetrics = createWorkerMetrics(metrics);
  let worker: Worker | undefined;
  const health = await startHealthServer({
    host: config.HOST,
    port: config.METRICS_PORT,
    readiness: () =>
      worker === undefined || signal.aborted
        ? { ready: false, reasons: ['The worker is starting or stopping: see its log.'] }
        : { ready: true, reasons: [] },
  });
  log.info({ port: health.port }, 'health and metrics are served');

  worker = await whenAnswered(async () => {
    await ensureTopics(kafka, config);
    await storage.ensureBucket();
    return startWorker({
      kafka,
      storage,
      pipeline: {
        fetchSource: (input, context) => fetchSource(input, context, sources),
        fetchMusic: (input, context) => fetchMusic(input, context, sources.allow),
        checkMusic,
        analyseVideo,
        planClips: (input, context) =>
          planClips(input, { ...context, languageModel: languageModelOf(config, log) }),
        renderClip,
      },
      tools: sources.tools,
      folders,
      limits: {
        maxBytes: config.SOURCE_MAX_BYTES,
        maxDurationMs: config.SOURCE_MAX_DURATION,
        maxMusicBytes: config.MUSIC_MAX_BYTES,
      },
      modelsFolder: config.MODELS_DIR,
      speech,
      swaps,
      fontsFolder: config.FONTS_DIR,
      concurrency: config.WORKER_CONCURRENCY,
      maxUnfinishedPerPartition: MAX_UNFINISHED_PER_PARTITION,
      random: Math.random,
      metrics: workerMetrics,
      log,
    });
  });
  if (worker !== undefined) {
    void keepRetention(storage, log, signal);
    log.info({ concurrency: config.WORKER_CONCURRENCY }, 'the worker takes tasks');
    await Promise.race([worker.ended, aborted(signal)]);
    log.info('the worker stops: running tasks may end, others go back');
    await Promise.race([worker.stop(), delay(STOP_LIMIT_MS)]);
  }
  await folders.close();
  await sources.close();
  storage.close();
  await health.close();
  log.info('the worker has stopped');

  /** What `start` gives, tried until Kafka and object storage answer; undefined when the process is to stop first. */
  async function whenAnswered<Value>(start: () => Promise<Value>): Promise<Value | undefined> {
    while (!signal.aborted) {
      try {
        return await start();
      } catch (error) {
        if (error instanceof KafkaFailure && !error.retryable) throw error;
        log.warn({ err: error }, 'Kafka or object storage does not answer yet; trying again');
        await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
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
