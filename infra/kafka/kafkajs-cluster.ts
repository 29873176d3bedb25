import { createRequire } from 'node:module';
import type { Kafka, KafkaConfig } from 'kafkajs';
import { ByteReader } from './byte-reader.ts';

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

/** The requests of kafkajs's `Broker` that are used here. Each rejects on an error code in the answer. */
export type ClusterBroker = Readonly<{
  nodeId: number | string;
  connectionPool: Readonly<{ send: <Answer>(request: WireRequest<Answer>) => Promise<Answer> }>;
  initProducerId: (request: {
    transactionalId: string;
    transactionTimeout: number;
  }) => Promise<{ producerId: string; producerEpoch: number }>;
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

/** The checksum of record batches. */
export const crc32c: (bytes: Buffer) => number = requireFromHere(
  'kafkajs/src/protocol/recordBatch/crc32C/index.js',
);

type Encoder = { writeBufferInternal: (bytes: Buffer) => void };
const EncoderClass: new (bytes: number) => Encoder = requireFromHere('kafkajs/src/protocol/encoder.js');

/** Bytes as kafkajs's requests take them. */
export function encoderOf(bytes: Buffer): object {
  const encoder = new EncoderClass(bytes.length);
  encoder.writeBufferInternal(bytes);
  return encoder;
}

const NO_TAGS = Buffer.of(0);

/**
 * A request of a flexible version, with its body written and its answer read here. kafkajs writes and reads
 * the headers of the versions before, which have no tagged fields at their end.
 */
export function wireRequest<Answer>(
  name: Readonly<{ apiKey: number; apiVersion: number; apiName: string }>,
  body: Buffer,
  read: (answer: ByteReader) => Answer,
  { hasAnswerTags = true }: { readonly hasAnswerTags?: boolean } = {},
): WireRequest<Answer> {
  return {
    request: { ...name, encode: async () => encoderOf(Buffer.concat([NO_TAGS, body])) },
    response: {
      decode: async (payload) => {
        const answer = new ByteReader(payload);
        if (hasAnswerTags) answer.tags();
        return { answer: read(answer) };
      },
      parse: async ({ answer }: { answer: Answer }) => answer,
    },
  };
}

const createErrorFromCode: (code: number) => Error = requireFromHere(
  'kafkajs/src/protocol/error.js',
).createErrorFromCode;
const PRODUCER_FENCED = 90;

/** Throws what an answer's error code says, as kafkajs does for its own requests; 0 is no error. */
export function failOnErrorCode(code: number): void {
  if (code === 0) return;
  // kafkajs knows no answers that came after the first transaction protocol.
  if (code === PRODUCER_FENCED)
    throw Object.assign(new Error('A newer producer has this transactional id'), { type: 'PRODUCER_FENCED' });
  throw createErrorFromCode(code);
}
