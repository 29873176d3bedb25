import { ConfigError } from '#infra/config.ts';
import { resolveConfig } from '#infra/embedded/resolve-config.ts';
import { startHealthServer } from '#infra/health-server.ts';
import { connectKafka } from '#infra/kafka/connection.ts';
import { createLogger } from '#infra/log.ts';
import { openPool } from '#infra/postgres/pool.ts';
import { ProjectorStatus } from './projector-status.ts';
import { runProjector } from './run-projector.ts';

/** The projector process: events become rows, and a health server says how it is. */

const stopping = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stopping.abort());

try {
  const config = await resolveConfig(process.env, ['KAFKA_BROKERS', 'DATABASE_URL']);
  const log = createLogger(config, 'projector');
  const status = new ProjectorStatus();
  const kafka = connectKafka(config, { clientId: 'clipledger-projector', log });
  const pool = openPool(config, log, 'clipledger-projector');
  const health = await startHealthServer({
    host: config.HOST,
    port: config.METRICS_PORT,
    readiness: () => status.readiness(),
  });
  log.info({ host: config.HOST, port: health.port }, 'Health and metrics are served.');
  await runProjector({ kafka, pool, log, status }, config, stopping.signal);
  await Promise.all([health.close(), pool.end()]);
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = 1;
}
process.exit();
