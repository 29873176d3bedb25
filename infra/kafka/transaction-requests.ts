import type { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { crc32c, type WireRequest, wireRequest } from './kafkajs-cluster.ts';
import { type BatchMessage, recordBatchBytes } from './record-batch-bytes.ts';

/**
 * The requests of a transaction in Kafka's second transaction protocol (KIP-890, Kafka 4): the first that
 * touches a partition also adds it to the transaction, and each end begins a new producer epoch, so that a
 * request that is late never acts on a later transaction. kafkajs knows the first protocol only.
 */

/** Who writes, in this transaction: each has an epoch of its own. */
export type TransactionIdentity = Readonly<{
  transactionalId: string;
  producerId: number;
  producerEpoch: number;
}>;

/** The name of a topic on the cluster, one of its partitions, and what Kafka answered for that: 0 is success. */
export type PartitionAnswer = Readonly<{ topicName: string; partition: number; errorCode: number }>;

const ALL_REPLICAS = -1;
const PRODUCE_TIMEOUT_MS = 5_000;
const NO_GENERATION = -1;
const NO_LEADER_EPOCH = -1;
const CLIENT = { name: 'clipledger', version: '1' };

/** Produce, version 12: the first and only one of its transaction to these partitions, one batch for each. */
export function produceRequest(
  { transactionalId, producerId, producerEpoch }: TransactionIdentity,
  batches: readonly Readonly<{
    topicName: string;
    partition: number;
    messages: readonly BatchMessage[];
  }>[],
): WireRequest<readonly (PartitionAnswer & Readonly<{ baseOffset: number }>)[]> {
  const body = new ByteWriter(1_024);
  body.compactText(transactionalId);
  body.int16(ALL_REPLICAS);
  body.int32(PRODUCE_TIMEOUT_MS);
  const nowMs = Date.now();
  body.compactArray([...Map.groupBy(batches, ({ topicName }) => topicName)], ([topicName, partitions]) => {
    body.compactText(topicName);
    body.compactArray(partitions, ({ partition, messages }) => {
      const producer = { producerId, producerEpoch, firstSequence: 0, isTransactional: true };
      const bytes = recordBatchBytes(messages, producer, { nowMs, crc32c });
      body.int32(partition);
      body.unsignedVarint(bytes.length + 1);
      body.content(bytes);
      body.noTags();
    });
    body.noTags();
  });
  body.noTags();
  return wireRequest({ apiKey: 0, apiVersion: 12, apiName: 'Produce' }, body.written, readProduceAnswer);
}

function readProduceAnswer(answer: ByteReader) {
  return answer
    .compactArray(() => {
      const topicName = answer.compactText();
      const partitions = answer.compactArray(() => {
        const partition = answer.int32();
        const errorCode = answer.int16();
        const baseOffset = answer.int64();
        // Of no use here: the append time, the log's beginning, what was wrong with which record.
        answer.int64();
        answer.int64();
        answer.compactArray(() => {
          answer.int32();
          answer.compactText();
          answer.tags();
        });
        answer.compactText();
        answer.tags();
        return { topicName, partition, errorCode, baseOffset };
      });
      answer.tags();
      return partitions;
    })
    .flat();
}

/** TxnOffsetCommit, version 5, in the name of a group and of no member of it. */
export function commitOffsetsRequest(
  { transactionalId, producerId, producerEpoch }: TransactionIdentity,
  consumed: Readonly<{ groupId: string; topicName: string; nextOffsets: ReadonlyMap<number, number> }>,
): WireRequest<readonly PartitionAnswer[]> {
  const body = new ByteWriter(256);
  body.compactText(transactionalId);
  body.compactText(consumed.groupId);
  body.int64(producerId);
  body.int16(producerEpoch);
  body.int32(NO_GENERATION);
  body.compactText('');
  body.compactText(null);
  body.compactArray([consumed], ({ topicName, nextOffsets }) => {
    body.compactText(topicName);
    body.compactArray([...nextOffsets], ([partition, nextOffset]) => {
      body.int32(partition);
      body.int64(nextOffset);
      body.int32(NO_LEADER_EPOCH);
      body.compactText(null);
      body.noTags();
    });
    body.noTags();
  });
  body.noTags();
  return wireRequest({ apiKey: 28, apiVersion: 5, apiName: 'TxnOffsetCommit' }, body.written, (answer) => {
    answer.int32();
    return answer
      .compactArray(() => {
        const topicName = answer.compactText();
        const partitions = answer.compactArray(() => {
          const partition = answer.int32();
          const errorCode = answer.int16();
          answer.tags();
          return { topicName, partition, errorCode };
        });
        answer.tags();
        return partitions;
      })
      .flat();
  });
}

/** EndTxn, version 5: commits; answers with who writes the next transaction. */
export function commitRequest(
  identity: TransactionIdentity,
): WireRequest<Readonly<{ errorCode: number; next: TransactionIdentity }>> {
  const { transactionalId, producerId, producerEpoch } = identity;
  const body = new ByteWriter(128);
  body.compactText(transactionalId);
  body.int64(producerId);
  body.int16(producerEpoch);
  body.int8(1);
  body.noTags();
  return wireRequest({ apiKey: 26, apiVersion: 5, apiName: 'EndTxn' }, body.written, (answer) => {
    answer.int32();
    const errorCode = answer.int16();
    return {
      errorCode,
      next: { transactionalId, producerId: answer.int64(), producerEpoch: answer.int16() },
    };
  });
}

/** ApiVersions, version 3, as far as it says which features the cluster has switched on, at which level. */
export function featuresRequest(): WireRequest<ReadonlyMap<string, number>> {
  const body = new ByteWriter(64);
  body.compactText(CLIENT.name);
  body.compactText(CLIENT.version);
  body.noTags();
  const request = { apiKey: 18, apiVersion: 3, apiName: 'ApiVersions' };
  return wireRequest(request, body.written, readFeatures, { hasAnswerTags: false });
}

const FINALIZED_FEATURES_TAG = 2;

function readFeatures(answer: ByteReader): ReadonlyMap<string, number> {
  const features = new Map<string, number>();
  answer.int16();
  answer.compactArray(() => {
    answer.int32();
    answer.int16();
    answer.tags();
  });
  answer.int32();
  answer.tags((tag, content) => {
    if (tag !== FINALIZED_FEATURES_TAG) return;
    content.compactArray(() => {
      features.set(content.compactText(), content.int16());
      content.int16();
      content.tags();
    });
  });
  return features;
}
