import { type LogEntry, logLevel } from 'kafkajs';
import type { Logger } from '../log.ts';

/**
 * What it says of these is said elsewhere. Connections: every error code in a broker's answer, also those that
 * are expected and asked again. Consumers: their crashes, which end a group membership.
 */
const saidElsewhere: readonly string[] = ['Connection', 'Consumer'];

/**
 * kafkajs's own log goes to ours one level lower than it asks for: it shouts about every connection that
 * breaks, while whoever uses it decides whether that matters and says so.
 */
export function kafkajsLogCreator(log: Logger) {
  return () =>
    ({
      namespace,
      level,
      log: { message, timestamp: _timestamp, stack: _stack, ...extra },
    }: LogEntry): void => {
      const fields = { kafkajs: namespace, ...extra };
      if (level === logLevel.ERROR && !saidElsewhere.includes(namespace)) log.warn(fields, message);
      else log.debug(fields, message);
    };
}

/** Below WARN kafkajs builds log lines for every request, which costs a tenth of the throughput. */
export const kafkajsLogLevel = logLevel.WARN;
