import { ConfigError } from '#infra/config.ts';
import { resolveConfig } from '#infra/embedded/resolve-config.ts';
import { createLogger } from '#infra/log.ts';
import { runApi } from './run-api.ts';

/** The api process: HTTP, the ledger, the settlement of charges and the deadlines of jobs. */

const stopping = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stopping.abort());

try {
  const config = await resolveConfig(process.env, ['KAFKA_BROKERS', 'DATABASE_URL']);
  await runApi({ config, log: createLogger(config, 'api'), stopping: stopping.signal });
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = 1;
}
process.exit();
