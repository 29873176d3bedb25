import { parseConfig } from '#infra/config.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';
import { createTenant } from '../../stack/tenant.ts';

/** A connection to topics of the test's own. */
export async function tenantKafka(): Promise<KafkaConnection> {
  const config = parseConfig({ ...(await createTenant()).env, LOG_LEVEL: 'error' });
  const kafka = connectKafka(config, { clientId: 'test', log: createLogger(config, 'test') });
  await ensureTopics(kafka, config);
  return kafka;
}
