import { readFileSync } from 'node:fs';
import { type Admin, Kafka, type KafkaConfig, type SASLOptions } from 'kafkajs';
import type { Topic } from '#schemas/topics.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { KafkaFailure, KafkaUnavailable } from './kafka-failure.ts';
import './kafkajs-repairs.ts';
import { kafkajsLogCreator, kafkajsLogLevel } from './kafkajs-log.ts';
import { socketFactory } from './socket-factory.ts';

export type BrokerAddress = Readonly<{ host: string; port: number }>;

/** What connecting needs beside the settings. `routeTo` leads a broker's address elsewhere, as a tunnel does. */
export type ConnectOptions = Readonly<{
  clientId: string;
  log: Logger;
  routeTo?: (broker: BrokerAddress) => BrokerAddress;
  requestTimeoutMs?: number;
}>;

const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 10_000;
const CONNECT_RETRY = { retries: 4, initialRetryTime: 50, maxRetryTime: 500 };
const ADMIN_RETRY = { retries: 8, initialRetryTime: 50, maxRetryTime: 1_000 };

/**
 * The way to one cluster: addresses, TLS, SASL, and the deployment's prefix for topics, groups and
 * transactional ids, which is known here and nowhere else. Making it opens no connection.
 */
export class KafkaConnection {
  readonly log: Logger;
  /** Only for the modules of infra/kafka. */
  readonly client: Kafka;
  /** Only for the modules of infra/kafka. */
  readonly settings: KafkaConfig;
  readonly #prefix: string;
  readonly #partitionCounts = new Map<Topic, number>();

  constructor(settings: KafkaConfig, prefix: string, log: Logger) {
    this.settings = settings;
    this.client = new Kafka(settings);
    this.#prefix = prefix;
    this.log = log;
  }

  /** The topic's name on the cluster. */
  topicName(topic: Topic): string {
    return `${this.#prefix}${topic}`;
  }

  /** A consumer group's or a transactional id's name on the cluster. */
  scopedName(name: string): string {
    return `${this.#prefix}${name}`;
  }

  /** Takes note of partition counts that were seen on the cluster. */
  rememberPartitionCounts(counts: ReadonlyMap<Topic, number>): void {
    for (const [topic, count] of counts) this.#partitionCounts.set(topic, count);
  }

  /** How many partitions the topic has; asked once. */
  async partitionCount(topic: Topic): Promise<number> {
    const known = this.#partitionCounts.get(topic);
    if (known !== undefined) return known;
    const counts = await this.admin(async (admin) => {
      const { topics } = await admin.fetchTopicMetadata({ topics: [this.topicName(topic)] });
      return topics.map(({ partitions }) => partitions.length);
    });
    const count = counts[0] ?? 0;
    if (count === 0) throw new KafkaUnavailable(`The topic ${this.topicName(topic)} has no partitions yet`);
    this.#partitionCounts.set(topic, count);
    return count;
  }

  /** Runs `work` with an admin client that lives as long as it. Rejects with `KafkaUnavailable`. */
  async admin<Result>(work: (admin: Admin) => Promise<Result>): Promise<Result> {
    const admin = this.client.admin({ retry: ADMIN_RETRY });
    try {
      await admin.connect();
      return await work(admin);
    } catch (error) {
      if (error instanceof KafkaFailure) throw error;
      throw new KafkaUnavailable('Kafka did not answer an administrative request', error);
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }
}

/** The way to the cluster of these settings. Throws when they do not say which cluster that is. */
export function connectKafka(config: Config, options: ConnectOptions): KafkaConnection {
  const { KAFKA_BROKERS: brokers } = config;
  if (brokers === undefined || brokers.length === 0) {
    throw new KafkaFailure(
      'KAFKA_REFUSED',
      'No Kafka is known: set KAFKA_BROKERS to host:port, or start the embedded stack with `npm start`.',
    );
  }
  const sasl = saslOptions(config);
  const settings: KafkaConfig = {
    brokers,
    clientId: options.clientId,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    authenticationTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    retry: CONNECT_RETRY,
    logLevel: kafkajsLogLevel,
    logCreator: kafkajsLogCreator(options.log),
    socketFactory: socketFactory(options.routeTo),
    ssl: tlsOptions(config),
    ...(sasl === undefined ? {} : { sasl }),
  };
  return new KafkaConnection(settings, config.KAFKA_TOPIC_PREFIX, options.log);
}

function tlsOptions(config: Config): NonNullable<KafkaConfig['ssl']> {
  if (!config.KAFKA_SSL) return false;
  return config.KAFKA_SSL_CA_FILE === undefined ? true : { ca: [readFileSync(config.KAFKA_SSL_CA_FILE)] };
}

function saslOptions(config: Config): SASLOptions | undefined {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username } = config;
  const password = config.KAFKA_SASL_PASSWORD;
  if (mechanism === undefined) return undefined;
  if (username === undefined || password === undefined) {
    throw new KafkaFailure(
      'KAFKA_REFUSED',
      'KAFKA_SASL_MECHANISM needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD beside it.',
    );
  }
  return { mechanism, username, password };
}
