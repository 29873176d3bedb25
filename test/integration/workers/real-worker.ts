import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { type Config, parseConfig } from '#infra/config.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { createLogger } from '#infra/log.ts';
import { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { storageSettings } from '#infra/object-storage/storage-settings.ts';
import { openSourceAccess } from '#infra/sources/source-access.ts';
import { fetchSource } from '#workers/clip/pipeline.ts';
import { WorkFolders } from '#workers/runtime/work-folders.ts';
import { startWorker } from '#workers/runtime/worker.ts';
import { createWorkerMetrics } from '#workers/runtime/worker-metrics.ts';
import { swapMaking } from '#workers/swap/runtime/swap-making.ts';
import { scriptedPipeline } from './scripted-pipeline.ts';

/** A worker inside the test's process that makes face swaps as in service: real sources, real engine. */
export async function startSwapWorker(
  environment: Readonly<Record<string, string>>,
  kafka: KafkaConnection,
): Promise<{ stop: () => Promise<void> }> {
  const config: Config = parseConfig({ LOG_LEVEL: 'silent', ...environment });
  const log = createLogger(config, 'worker');
  const root = await mkdtemp(join(tmpdir(), 'clipledger-swap-worker-'));
  const storage = ObjectStorage.connect(storageSettings(config));
  await storage.ensureBucket();
  const sources = await openSourceAccess(config, log);
  const worker = await startWorker({
    kafka,
    storage,
    pipeline: {
      ...scriptedPipeline({ renderMs: 0 }).pipeline,
      fetchSource: (input, context) => fetchSource(input, context, sources),
    },
    tools: sources.tools,
    folders: await WorkFolders.open(root),
    limits: { maxBytes: 1_000_000_000, maxDurationMs: 3_600_000, maxMusicBytes: 1_000_000 },
    swaps: swapMaking(config, sources),
    concurrency: 2,
    maxUnfinishedPerPartition: 200,
    random: () => 0,
    metrics: createWorkerMetrics(new Registry()),
    log,
  });
  return {
    stop: async () => {
      await worker.stop();
      await sources.close();
      storage.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}
