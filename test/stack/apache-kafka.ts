import { GenericContainer, Wait } from 'testcontainers';

const startLimitMs = 240_000;

/** The port on which containers of the same network reach the broker, as `kafka:19092`. */
export const kafkaInsidePort = 19_092;

/** One broker that is its own controller, reached from outside on `hostPort` and inside as `kafka`. */
export class ApacheKafka extends GenericContainer {
  constructor(image: string, hostPort: number) {
    super(image);
    this.withNetworkAliases('kafka')
      // A fixed port: the broker names it to its clients, and a restarted container must keep it.
      .withExposedPorts({ container: 9092, host: hostPort })
      .withEnvironment({
        KAFKA_NODE_ID: '1',
        KAFKA_PROCESS_ROLES: 'broker,controller',
        KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
        KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
        KAFKA_LISTENERS: `OUTSIDE://:9092,INSIDE://:${kafkaInsidePort},CONTROLLER://:9093`,
        KAFKA_ADVERTISED_LISTENERS: `OUTSIDE://127.0.0.1:${hostPort},INSIDE://kafka:${kafkaInsidePort}`,
        KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'OUTSIDE:PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT',
        KAFKA_INTER_BROKER_LISTENER_NAME: 'INSIDE',
        KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
        KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: '1',
        KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
        KAFKA_TRANSACTION_STATE_LOG_NUM_PARTITIONS: '1',
        KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
        KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
        KAFKA_SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR: '1',
        KAFKA_SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR: '1',
        KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
        KAFKA_LOG_CLEANER_DEDUPE_BUFFER_SIZE: '8388608',
        // A killed broker may register again after 4 s instead of 9. Less, and a machine that is busy with
        // tests is late with a heartbeat: the broker is fenced and leads no partition for a moment.
        KAFKA_BROKER_SESSION_TIMEOUT_MS: '4000',
        KAFKA_BROKER_HEARTBEAT_INTERVAL_MS: '400',
        KAFKA_HEAP_OPTS: '-Xmx512m',
      })
      .withWaitStrategy(Wait.forListeningPorts())
      .withStartupTimeout(startLimitMs);
  }
}
