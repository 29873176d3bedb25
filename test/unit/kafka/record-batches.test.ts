import { describe, expect, test } from 'vitest';
import { encodeProduceRequest } from '#infra/kafka/produce-request.ts';
import type { BatchMessage } from '#infra/kafka/record-batch-bytes.ts';
import { type AbortedTransaction, decodeBatches } from '#infra/kafka/record-batches.ts';

const from = { topic: 'job.events', partition: 2, fetchOffset: 0 } as const;
const NOW_MS = 1_795_000_000_000;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;

/** A batch as the broker would send it: what a Produce request holds, with the offset it got. */
function batch(options: {
  readonly baseOffset: number;
  readonly producerId?: number;
  readonly attributes?: number;
  readonly messages: readonly BatchMessage[];
}): Buffer {
  const request = encodeProduceRequest(
    {
      acks: -1,
      timeout: 1,
      producerId: options.producerId ?? 7,
      producerEpoch: 0,
      topicData: [{ topic: 't', partitions: [{ partition: 2, messages: options.messages }] }],
    },
    () => 0,
    NOW_MS,
  );
  // transactional id 2, acks 2, timeout 4, topics 4, name 2+1, partitions 4, partition 4, size 4
  const bytes = Buffer.from(request.subarray(27));
  bytes.writeBigInt64BE(BigInt(options.baseOffset), 0);
  bytes.writeInt16BE(options.attributes ?? 0, 21);
  return bytes;
}

const message = (value: string): BatchMessage => ({ key: 'k', value: Buffer.from(value) });
const transactional = (baseOffset: number, producerId: number, value: string) =>
  batch({ baseOffset, producerId, attributes: TRANSACTIONAL, messages: [message(value)] });
const marker = (baseOffset: number, producerId: number, kind: 'commit' | 'abort') =>
  batch({
    baseOffset,
    producerId,
    attributes: TRANSACTIONAL | CONTROL,
    messages: [{ key: Buffer.from([0, 0, 0, kind === 'commit' ? 1 : 0]), value: Buffer.alloc(6) }],
  });

function read(batches: readonly Buffer[], aborted: readonly AbortedTransaction[] = [], fetchOffset = 0) {
  const decoded = decodeBatches(Buffer.concat(batches), { ...from, fetchOffset }, aborted);
  return { values: decoded.records.map(({ value }) => value.toString()), nextOffset: decoded.nextOffset };
}

describe('records that were written', () => {
  test('come back with key, value, headers, offset and time', () => {
    const headers = { ce_id: 'x', 'content-type': 'application/avro', empty: '', umlaut: 'ü' };
    const long = 'v'.repeat(70_000);
    const messages = [
      { key: '42', value: Buffer.from('first'), headers },
      { key: 'ключ', value: long },
      { key: '44', value: null },
    ];
    const { records, nextOffset } = decodeBatches(batch({ baseOffset: 5_000_000_000, messages }), from, []);
    expect(nextOffset).toBe(5_000_000_003);
    expect(records.map(({ offset }) => offset)).toEqual([5_000_000_000, 5_000_000_001, 5_000_000_002]);
    expect(records.map(({ key }) => key)).toEqual(['42', 'ключ', '44']);
    expect(records[0]?.headers).toEqual(headers);
    expect(records[1]?.value.toString()).toBe(long);
    expect(records[2]?.value.length).toBe(0);
    expect(records[0]?.timestampMs).toBe(NOW_MS);
    expect(records[0]?.topic).toBe('job.events');
  });

  test.each([0, 1, 21, 31, 32, 63, 64, 100, 4_095, 4_096, 8_191, 8_192])(
    'texts of %i characters of one, two, three and four bytes come back, and what follows them',
    (length) => {
      const texts = ['a', 'é', '…', '🎬'].map((character) => character.repeat(length));
      const messages = texts.map((text) => ({
        key: text,
        value: Buffer.from(text),
        headers: { [text]: text },
      }));
      const bytes = batch({ baseOffset: 0, messages: [...messages, message('after')] });
      const { records } = decodeBatches(bytes, from, []);
      expect(records.map(({ key }) => key)).toEqual([...texts, 'k']);
      expect(records.map(({ value }) => value.toString())).toEqual([...texts, 'after']);
      expect(records.map(({ headers }) => headers)).toEqual([...texts.map((text) => ({ [text]: text })), {}]);
    },
  );

  test('a batch that is cut off at the end waits for the next fetch', () => {
    const whole = batch({ baseOffset: 0, messages: [message('a')] });
    const cut = batch({ baseOffset: 1, messages: [message('b')] }).subarray(0, -3);
    expect(read([whole, cut])).toEqual({ values: ['a'], nextOffset: 1 });
  });

  test('records before the fetched offset are left out', () => {
    const messages = [message('a'), message('b'), message('c')];
    expect(read([batch({ baseOffset: 10, messages })], [], 12)).toEqual({ values: ['c'], nextOffset: 13 });
  });

  test('an emptied batch, as compaction leaves it, is passed', () => {
    const emptied = batch({ baseOffset: 3, messages: [] });
    emptied.writeInt32BE(9, 23);
    expect(read([emptied], [], 3)).toEqual({ values: [], nextOffset: 13 });
  });
});

describe('transactions', () => {
  test('committed ones are seen, and reading gets past their markers', () => {
    expect(read([transactional(0, 1, 'a'), marker(1, 1, 'commit')])).toEqual({
      values: ['a'],
      nextOffset: 2,
    });
  });

  test('aborted ones are not seen, but what the same producer commits later is', () => {
    const log = [
      transactional(0, 1, 'aborted'),
      marker(1, 1, 'abort'),
      transactional(2, 1, 'committed'),
      marker(3, 1, 'commit'),
    ];
    expect(read(log, [{ producerId: 1, firstOffset: 0 }]).values).toEqual(['committed']);
  });

  test('interleaved ones are told apart, in whatever order the broker lists the aborted', () => {
    const log = [
      transactional(0, 1, 'aborted 1'),
      transactional(1, 2, 'aborted 2'),
      transactional(2, 3, 'committed 3'),
      transactional(3, 2, 'aborted 2'),
      marker(4, 2, 'abort'),
      transactional(5, 1, 'aborted 1'),
      marker(6, 3, 'commit'),
      marker(7, 1, 'abort'),
      batch({ baseOffset: 8, producerId: 9, messages: [message('plain')] }),
    ];
    // The broker lists them by where they ended: producer 2 first.
    const aborted = [
      { producerId: 2, firstOffset: 1 },
      { producerId: 1, firstOffset: 0 },
    ];
    expect(read(log, aborted)).toEqual({ values: ['committed 3', 'plain'], nextOffset: 9 });
  });

  test('ones whose beginning lies before the fetched offset are still left out', () => {
    const log = [transactional(5, 1, 'aborted'), transactional(6, 2, 'aborted too'), marker(7, 1, 'abort')];
    const aborted = [
      { producerId: 1, firstOffset: 2 },
      { producerId: 2, firstOffset: 1 },
    ];
    expect(read(log, aborted, 5)).toEqual({ values: [], nextOffset: 8 });
  });
});
