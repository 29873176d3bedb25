import { randomUUID } from 'node:crypto';

/** Topic prefix and bucket of its own for one test file. */
export function tenantEnvironment(): Record<string, string | undefined> {
  const name = `w${randomUUID().slice(0, 8)}`;
  return { ...process.env, KAFKA_TOPIC_PREFIX: `${name}-`, S3_BUCKET: name };
}
