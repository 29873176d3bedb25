import { describe, expect, test } from 'vitest';
import type { WireRequest } from '#infra/kafka/kafkajs-cluster.ts';
import {
  commitOffsetsRequest,
  commitRequest,
  featuresRequest,
  produceRequest,
} from '#infra/kafka/transaction-requests.ts';

/** Bytes as Kafka's protocol guide lays them out, written by hand. */

const identity = { transactionalId: 'tx', producerId: 7, producerEpoch: 3 };
const int16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const int32 = (value: number) => Buffer.concat([int16(0), int16(value)]);
const int64 = (value: number) => Buffer.concat([int32(0), int32(value)]);
const compact = (text: string) => Buffer.concat([Buffer.of(text.length + 1), Buffer.from(text)]);
const one = Buffer.of(2);
const none = Buffer.of(0);

async function bytesOf({ request }: WireRequest<unknown>): Promise<Buffer> {
  return ((await request.encode()) as { buffer: Buffer }).buffer;
}

async function answerOf<Answer>({ response }: WireRequest<Answer>, ...bytes: Buffer[]): Promise<Answer> {
  return response.parse((await response.decode(Buffer.concat(bytes))) as never);
}

describe('the requests of a transaction', () => {
  test('write one batch for each partition, and hear where it begins', async () => {
    const request = produceRequest(identity, [
      { topicName: 'a', partition: 1, messages: [{ key: 'k', value: Buffer.from('v') }] },
    ]);
    const bytes = await bytesOf(request);
    const head = Buffer.concat([none, compact('tx'), int16(0xffff), int32(5_000), one, compact('a'), one]);
    expect(bytes.subarray(0, head.length)).toEqual(head);
    expect(bytes.subarray(head.length, head.length + 4)).toEqual(int32(1));
    const batch = bytes.subarray(head.length + 5, bytes.length - 3);
    expect(bytes[head.length + 4]).toBe(batch.length + 1);
    expect(batch.readInt32BE(8)).toBe(batch.length - 12);
    expect(batch.readBigInt64BE(43)).toBe(7n);
    expect(batch.readInt16BE(51)).toBe(3);
    expect(batch.readInt32BE(53)).toBe(0);
    const partition = [int32(1), int16(0), int64(42), int64(9), int64(0), Buffer.of(1), none, none];
    const answer = [none, one, compact('a'), one, ...partition, none, int32(0), none];
    expect(await answerOf(request, ...answer)).toEqual([
      { topicName: 'a', partition: 1, errorCode: 0, baseOffset: 42 },
    ]);
  });

  test('hear what was wrong with a batch', async () => {
    const faultyRecord = [one, int32(0), compact('bad'), none];
    const partition = [
      int32(1),
      int16(87),
      int64(0),
      int64(0),
      int64(0),
      ...faultyRecord,
      compact('no'),
      none,
    ];
    const answer = [none, one, compact('a'), one, ...partition, none, int32(0), none];
    expect(await answerOf(produceRequest(identity, []), ...answer)).toMatchObject([{ errorCode: 87 }]);
  });

  test('commit an offset in the name of a group', async () => {
    const request = commitOffsetsRequest(identity, {
      groupId: 'g',
      topicName: 'a',
      nextOffsets: new Map([
        [2, 99],
        [0, 7],
      ]),
    });
    expect(await bytesOf(request)).toEqual(
      Buffer.concat([
        ...[none, compact('tx'), compact('g'), int64(7), int16(3), Buffer.alloc(4, 0xff), compact(''), none],
        ...[one, compact('a'), Buffer.of(3)],
        ...[int32(2), int64(99), Buffer.alloc(4, 0xff), none, none],
        ...[int32(0), int64(7), Buffer.alloc(4, 0xff), none, none],
        ...[none, none],
      ]),
    );
    const answer = [none, int32(0), one, compact('a'), one, int32(2), int16(51), none, none, none];
    expect(await answerOf(request, ...answer)).toEqual([{ topicName: 'a', partition: 2, errorCode: 51 }]);
  });

  test('commit, and learn the epoch of the next transaction', async () => {
    const request = commitRequest(identity);
    expect(await bytesOf(request)).toEqual(
      Buffer.concat([none, compact('tx'), int64(7), int16(3), Buffer.of(1), none]),
    );
    expect(await answerOf(request, none, int32(0), int16(0), int64(7), int16(4), none)).toEqual({
      errorCode: 0,
      next: { transactionalId: 'tx', producerId: 7, producerEpoch: 4 },
    });
  });

  test('read which features a cluster has switched on, past fields that nobody here knows', async () => {
    const api = [int16(0), int16(3), int16(12), none];
    const feature = Buffer.concat([one, compact('transaction.version'), int16(2), int16(0), none]);
    const unknown = Buffer.concat([Buffer.of(1, 8), int64(5)]);
    const tags = [Buffer.of(2), unknown, Buffer.of(2, feature.length), feature];
    const features = await answerOf(featuresRequest(), int16(0), one, ...api, int32(0), ...tags);
    expect([...features]).toEqual([['transaction.version', 2]]);
  });
});
