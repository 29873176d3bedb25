import type { Appender } from '#infra/kafka/appender.ts';
import { KafkaUnavailable } from '#infra/kafka/kafka-failure.ts';

/**
 * The log as HTTP writes to it from the first moment on: until an appender is connected, every append is
 * refused as in an outage.
 */
export class LateAppender implements Pick<Appender, 'append'> {
  #appender: Appender | undefined;

  connected(appender: Appender): void {
    this.#appender = appender;
  }

  append(...records: Parameters<Appender['append']>): ReturnType<Appender['append']> {
    return (
      this.#appender?.append(...records) ??
      Promise.reject(new KafkaUnavailable('The API is still connecting to Kafka'))
    );
  }
}
