/** Kafka's default partitioner: murmur2 of the key's bytes, as in the Java client's `Utils.murmur2`. */

const SEED = 0x9747b28c;
const M = 0x5bd1e995;
const R = 24;

function murmur2(bytes: Buffer): number {
  let hash = SEED ^ bytes.length;
  const wholeWords = bytes.length >> 2;
  for (let word = 0; word < wholeWords; word++) {
    let k = Math.imul(bytes.readInt32LE(word * 4), M);
    k = Math.imul(k ^ (k >>> R), M);
    hash = Math.imul(hash, M) ^ k;
  }
  const rest = bytes.subarray(wholeWords * 4);
  if (rest.length > 0) {
    for (let index = rest.length - 1; index >= 0; index--) hash ^= (rest[index] ?? 0) << (8 * index);
    hash = Math.imul(hash, M);
  }
  hash = Math.imul(hash ^ (hash >>> 13), M);
  return hash ^ (hash >>> 15);
}

/** The partition of a record with this key, the same that every other Kafka client computes. */
export function partitionOf(key: string, partitionCount: number): number {
  return (murmur2(Buffer.from(key)) & 0x7fffffff) % partitionCount;
}
