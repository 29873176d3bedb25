import { createRequire } from 'node:module';
import type { Kafka, KafkaConfig, Message } from 'kafkajs';

/**
 * kafkajs's connections without its consumer: requests to chosen brokers with an answer decoded here. The
 * module is internal to kafkajs, which is pinned and no longer changes; nothing else reaches into it.
 */

/** A request as kafkajs's network layer sends it. */
export type WireRequest<Answer> = Readonly<{
  request: Readonly<{ apiKey: number; apiVersion: number; apiName: string; encode: () => Promise<unknown> }>;
  response: Readonly<{
    decode: (payload: Buffer) => Promise<object>;
    parse: (decoded: never) => Promise<Answer>;
  }>;
  requestTimeout?: number;
}>;

type ProducerIdentity = Readonly<{ transactionalId: string; producerId: string; producerEpoch: number }>;

/** The requests of kafkajs's `Broker` that are used here. Each rejects on an error code in the answer. */
export type ClusterBroker = Readonly<{
  nodeId: number | string;
  connectionPool: Readonly<{ send: <Answer>(request: WireRequest<Answer>) => Promise<Answer> }>;
  initProducerId: (request: {
    transactionalId: string;
    transactionTimeout: number;
  }) => Promise<{ producerId: string; producerEpoch: number }>;
  addPartitionsToTxn: (
    request: ProducerIdentity & { topics: readonly { topic: string; partitions: readonly number[] }[] },
  ) => Promise<void>;
  addOffsetsToTxn: (request: ProducerIdentity & { groupId: string }) => Promise<void>;
  txnOffsetCommit: (
    request: ProducerIdentity & {
      groupId: string;
      topics: readonly {
        topic: string;
        partitions: readonly { partition: number; offset: string; metadata: null }[];
      }[];
    },
  ) => Promise<void>;
  produce: (
    request: ProducerIdentity & {
      acks: number;
      timeout: number;
      topicData: readonly {
        topic: string;
        partitions: readonly { partition: number; firstSequence: number; messages: readonly Message[] }[];
      }[];
    },
  ) => Promise<{
    topics: readonly {
      topicName: string;
      partitions: readonly { partition: number; baseOffset: string }[];
    }[];
  }>;
  endTxn: (request: ProducerIdentity & { transactionResult: boolean }) => Promise<void>;
}>;

/** The part of kafkajs's `Cluster` that is used here. */
export type Cluster = Readonly<{
  connect: () => Promise<void>;
  disconnect: () => Promise<void>;
  addMultipleTargetTopics: (topics: readonly string[]) => Promise<void>;
  refreshMetadata: () => Promise<void>;
  findTopicPartitionMetadata: (topic: string) => readonly { partitionId: number; leader: number }[];
  findGroupCoordinator: (of: { groupId: string; coordinatorType: number }) => Promise<ClusterBroker>;
  findBroker: (node: { nodeId: number | string }) => Promise<ClusterBroker>;
  fetchTopicsOffset: (
    topics: readonly {
      topic: string;
      partitions: readonly { partition: number }[];
      fromBeginning: boolean;
    }[],
  ) => Promise<readonly { topic: string; partitions: readonly { partition: number; offset: string }[] }[]>;
}>;

const READ_COMMITTED = 1;
const METADATA_MAX_AGE_MS = 300_000;

const requireFromHere = createRequire(import.meta.url);
const ClusterClass: new (options: object) => Cluster = requireFromHere('kafkajs/src/cluster/index.js');
const fetchRequestV11: (options: object) => WireRequest<unknown>['request'] = requireFromHere(
  'kafkajs/src/protocol/requests/fetch/v11/request.js',
);

/** Connections of their own to the cluster, reading committed records only. Connect and disconnect it. */
export function openCluster(client: Kafka, settings: KafkaConfig): Cluster {
  return new ClusterClass({
    ...settings,
    logger: client.logger(),
    isolationLevel: READ_COMMITTED,
    allowAutoTopicCreation: false,
    enforceRequestTimeout: true,
    metadataMaxAge: METADATA_MAX_AGE_MS,
  });
}

export type FetchTarget = Readonly<{ partition: number; fetchOffset: string; maxBytes: number }>;

/** A Fetch request, version 11 (Kafka 2.3 and later), for committed records. */
export function fetchRequest(options: {
  readonly maxWaitMs: number;
  readonly maxBytes: number;
  readonly topics: readonly { topic: string; partitions: readonly FetchTarget[] }[];
}): WireRequest<unknown>['request'] {
  return fetchRequestV11({
    replicaId: -1,
    isolationLevel: READ_COMMITTED,
    minBytes: 1,
    maxWaitTime: options.maxWaitMs,
    maxBytes: options.maxBytes,
    topics: options.topics,
  });
}
