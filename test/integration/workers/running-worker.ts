import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { type Config, parseConfig } from '#infra/config.ts';
import { type Appender, openAppender } from '#infra/kafka/appender.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import type { ClipPipeline } from '#workers/runtime/job-parts.ts';
import { WorkFolders } from '#workers/runtime/work-folders.ts';
import { startWorker, type Worker } from '#workers/runtime/worker.ts';
import { createWorkerMetrics } from '#workers/runtime/worker-metrics.ts';
import type { SwapMaking } from '#workers/swap/runtime/swap-parts.ts';

/** The servers as a test sees them, with what it needs to look at a worker's doings. */
export type WorkerSurroundings = Readonly<{
  config: Config;
  kafka: KafkaConnection;
  storage: ObjectStorage;
  appender: Appender;
  close: () => Promise<void>;
}>;

/** Connects to the tenant's Kafka and object storage, with topics and bucket made. */
export async function openSurroundings(
  env: Readonly<Record<string, string | undefined>>,
): Promise<WorkerSurroundings> {
  const config = parseConfig({ LOG_LEVEL: 'silent', ...env });
  const log = createLogger(config, 'test');
  const kafka = connectKafka(config, { clientId: 'test', log });
  const storage = ObjectStorage.connect(storageSettings(config));
  await ensureTopics(kafka, config);
  await storage.ensureBucket();
  const appender = await openAppender(kafka, { log });
  const close = async () => {
    await appender.close();
    storage.close();
  };
  return { config, kafka, storage, appender, close };
}

/** Scripted pipelines run no programs. */
const noTools: MediaTools = {
  ffmpegPath: '/nonexistent/ffmpeg',
  ffprobePath: '/nonexistent/ffprobe',
  prlimitPath: undefined,
  setprivPath: undefined,
};

export type WorkerTuning = Readonly<{
  concurrency?: number;
  maxUnfinishedPerPartition?: number;
  swaps?: SwapMaking;
}>;

/** A worker inside the test's process, with its own folder; `stop` removes it. */
export async function startTestWorker(
  { config, kafka, storage }: Pick<WorkerSurroundings, 'config' | 'kafka' | 'storage'>,
  pipeline: ClipPipeline,
  { concurrency = 2, maxUnfinishedPerPartition = 200, swaps }: WorkerTuning = {},
): Promise<Worker> {
  const root = await mkdtemp(join(tmpdir(), 'clipledger-worker-test-'));
  const worker = await startWorker({
    kafka,
    storage,
    pipeline,
    tools: noTools,
    folders: await WorkFolders.open(root),
    limits: { maxBytes: 1_000_000, maxDurationMs: 3_600_000, maxMusicBytes: 1_000_000 },
    swaps,
    concurrency,
    maxUnfinishedPerPartition,
    // Retries come at once.
    random: () => 0,
    metrics: createWorkerMetrics(new Registry()),
    log: createLogger(config, 'worker'),
  });
  return {
    ended: worker.ended,
    stop: async () => {
      await worker.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}
