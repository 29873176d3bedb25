import { ConfigError } from '#infra/config.ts';
import { resolveConfig } from '#infra/embedded/resolve-config.ts';
import { KafkaFailure } from '#infra/kafka/kafka-failure.ts';
import { createLogger } from '#infra/log.ts';
import { MediaToolsMissing } from '#infra/media/media-tools.ts';
import { boundYoungGeneration } from '#infra/young-generation.ts';
import { runApi } from './run-api.ts';

/** Whether the message alone tells the operator what to change: a setting, the cluster's shape, no ffmpeg, a port taken. */
const isOperators = (error: unknown): error is Error =>
  error instanceof ConfigError ||
  error instanceof KafkaFailure ||
  error instanceof MediaToolsMissing ||
  (error instanceof Error && 'syscall' in error && error.syscall === 'listen');

/** The api process: HTTP, the ledger, the settlement of charges and the deadlines of jobs. */

boundYoungGeneration();
const stopping = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stopping.abort());

try {
  const config = await resolveConfig(process.env, ['KAFKA_BROKERS', 'DATABASE_URL']);
  await runApi({ config, log: createLogger(config, 'api'), stopping: stopping.signal });
} catch (error) {
  process.stderr.write(`${isOperators(error) ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = 1;
}
process.exit();
