/** CRC-64-AVRO, the fingerprint of Avro's single-object encoding (Avro specification, "Schema Fingerprints"). */

const EMPTY = 0xc15d213aa4d7a795n;

const TABLE: readonly bigint[] = Array.from({ length: 256 }, (_, byte) => {
  let fingerprint = BigInt(byte);
  for (let bit = 0; bit < 8; bit++) {
    fingerprint = (fingerprint >> 1n) ^ (EMPTY & -(fingerprint & 1n) & 0xffffffffffffffffn);
  }
  return fingerprint;
});

/** The 8 bytes, little-endian, of the fingerprint of a schema in Parsing Canonical Form. */
export function rabinFingerprint(canonicalSchema: string): Buffer {
  let fingerprint = EMPTY;
  for (const byte of Buffer.from(canonicalSchema, 'utf8')) {
    fingerprint = (fingerprint >> 8n) ^ (TABLE[Number((fingerprint ^ BigInt(byte)) & 0xffn)] ?? 0n);
  }
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(fingerprint);
  return bytes;
}
