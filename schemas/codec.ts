import type avro from 'avsc';
import type { RecordName, RecordTypes } from './records.ts';
import { loadCurrentSchemas, loadReleasedSchemas } from './schema-files.ts';

/**
 * Avro single-object encoding (Avro specification, "Single-object encoding"): `C3 01`, the 8-byte
 * fingerprint of the writer's schema, the record. Any Avro library with the `.avsc` files reads the log.
 */

/** A decoded record with its name, so that a `switch` on `name` knows the type of `value`. */
export type Named<Records> = {
  readonly [Name in keyof Records]: Readonly<{ name: Name; value: Records[Name] }>;
}[keyof Records];
export type AnyRecord = Named<RecordTypes>;

/** The bytes are not a record that this software knows. */
export class UnreadableRecord extends Error {
  override readonly name = 'UnreadableRecord';
}

const MARKER = Buffer.from([0xc3, 0x01]);
const HEADER_BYTES = 10;

type Reader = Readonly<{ name: RecordName; read: (payload: Buffer) => unknown }>;
type Writer = Readonly<{ header: Buffer; type: avro.Type }>;

const writers = new Map<string, Writer>();
const readers = new Map<string, Reader>();
registerSchemas();

function registerSchemas(): void {
  for (const schema of loadCurrentSchemas()) {
    const header = Buffer.concat([MARKER, Buffer.from(schema.fingerprint, 'hex')]);
    writers.set(schema.name, { header, type: schema.type });
    readers.set(schema.fingerprint, {
      name: schema.name as RecordName,
      read: (payload) => schema.type.fromBuffer(payload),
    });
  }
  for (const old of loadReleasedSchemas()) {
    const current = writers.get(old.name);
    if (current === undefined || readers.has(old.fingerprint)) continue;
    const resolver = current.type.createResolver(old.type);
    readers.set(old.fingerprint, {
      name: old.name as RecordName,
      read: (payload) => current.type.fromBuffer(payload, resolver),
    });
  }
}

/** `value` as it goes into the log. Throws when `value` does not fit the record's schema. */
export function encodeRecord<Name extends RecordName>(name: Name, value: RecordTypes[Name]): Buffer {
  const writer = writers.get(name);
  if (writer === undefined) throw new Error(`There is no schema named ${name}.`);
  return Buffer.concat([writer.header, writer.type.toBuffer(value)]);
}

/** The record in `bytes`, also one written with an older released schema. Throws `UnreadableRecord`. */
export function decodeRecord(bytes: Buffer): AnyRecord {
  const reader = readers.get(fingerprintOf(bytes));
  if (reader === undefined)
    throw new UnreadableRecord('The record was written with a schema that is not in schemas/released.');
  try {
    return { name: reader.name, value: reader.read(bytes.subarray(HEADER_BYTES)) } as AnyRecord;
  } catch (cause) {
    throw new UnreadableRecord(`The bytes do not hold a whole ${reader.name}.`, { cause });
  }
}

function fingerprintOf(bytes: Buffer): string {
  if (bytes.length < HEADER_BYTES || bytes[0] !== MARKER[0] || bytes[1] !== MARKER[1]) {
    throw new UnreadableRecord('The bytes do not start with the marker of Avro single-object encoding.');
  }
  return bytes.toString('hex', 2, HEADER_BYTES);
}
