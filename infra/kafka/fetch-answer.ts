import { type AbortedTransaction, readLong } from './record-batches.ts';

/** One partition's part of a Fetch answer, its record batches not yet decoded. */
export type FetchedPartition = Readonly<{
  topicName: string;
  partition: number;
  errorCode: number;
  highWatermark: number;
  /** Committed records end here: offsets from it on belong to open transactions. */
  lastStableOffset: number;
  aborted: readonly AbortedTransaction[];
  batches: Buffer;
}>;

/**
 * FetchResponse version 11: throttle int32, error int16, session int32, [topic string, [partition int32,
 * error int16, high watermark, last stable offset and log start int64, [aborted: producer int64, first
 * offset int64], preferred replica int32, batches bytes]].
 */
export function decodeFetchAnswer(payload: Buffer): readonly FetchedPartition[] {
  const fetched: FetchedPartition[] = [];
  let at = 10;
  const count = (): number => {
    at += 4;
    return payload.readInt32BE(at - 4);
  };
  for (let topicsLeft = count(); topicsLeft > 0; topicsLeft--) {
    const nameBytes = payload.readInt16BE(at);
    const topicName = payload.toString('utf8', at + 2, at + 2 + nameBytes);
    at += 2 + nameBytes;
    for (let partitionsLeft = count(); partitionsLeft > 0; partitionsLeft--) {
      const header = at;
      at += 30;
      const aborted: AbortedTransaction[] = [];
      for (let abortedLeft = count(); abortedLeft > 0; abortedLeft--) {
        aborted.push({ producerId: readLong(payload, at), firstOffset: readLong(payload, at + 8) });
        at += 16;
      }
      at += 4;
      const batchesBytes = Math.max(0, count());
      fetched.push({
        topicName,
        partition: payload.readInt32BE(header),
        errorCode: payload.readInt16BE(header + 4),
        highWatermark: readLong(payload, header + 6),
        lastStableOffset: readLong(payload, header + 14),
        aborted,
        batches: payload.subarray(at, at + batchesBytes),
      });
      at += batchesBytes;
    }
  }
  return fetched;
}
