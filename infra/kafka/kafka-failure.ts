/**
 * `KAFKA_UNAVAILABLE`: the cluster did not do it in time; trying again later can help, and what was being
 * written may or may not be in the log. `KAFKA_REFUSED`: it never will, whatever the number of tries.
 */
export type KafkaFailureCode = 'KAFKA_UNAVAILABLE' | 'KAFKA_REFUSED';

/** Kafka did not do what was asked. */
export class KafkaFailure extends Error {
  override readonly name: string = 'KafkaFailure';
  readonly code: KafkaFailureCode;
  readonly retryable: boolean;

  constructor(code: KafkaFailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.retryable = code === 'KAFKA_UNAVAILABLE';
  }
}

/** The cluster cannot be reached or does not answer in time. Never proof that a record is not in the log. */
export class KafkaUnavailable extends KafkaFailure {
  override readonly name = 'KafkaUnavailable';

  constructor(message: string, cause?: unknown) {
    super('KAFKA_UNAVAILABLE', cause === undefined ? message : `${message}: ${reasonOf(cause)}`, cause);
  }
}

/** What the broker said, under the wrappers that kafkajs puts around it: a protocol error's type, or the message. */
export function reasonOf(error: unknown): string {
  const root = rootCause(error);
  if (root instanceof Error) {
    const type = 'type' in root && typeof root.type === 'string' ? `${root.type}: ` : '';
    return `${type}${root.message}`;
  }
  return String(root);
}

/** The type of a broker's answer, such as `CONCURRENT_TRANSACTIONS`; undefined when no broker answered. */
export function brokerErrorType(error: unknown): string | undefined {
  const root = rootCause(error);
  return root instanceof Error && 'type' in root && typeof root.type === 'string' ? root.type : undefined;
}

function rootCause(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root;
}
