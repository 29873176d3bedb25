import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { decodeRecord, encodeRecord, UnreadableRecord } from '#schemas/codec.ts';
import { recordTypesSource } from '#schemas/generate-records.ts';
import { rabinFingerprint } from '#schemas/rabin-fingerprint.ts';
import type { RecordName } from '#schemas/records.ts';
import { loadCurrentSchemas, loadReleasedSchemas } from '#schemas/schema-files.ts';
import { sampleRecords } from './sample-records.ts';

const golden: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('./golden-records.json', import.meta.url), 'utf8'),
);
const names = Object.keys(sampleRecords) as RecordName[];

/** Records decode to instances of classes that avsc makes; their fields are what matters. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The names of the fields that a released version, such as `JobRequested.1`, has. */
function fieldsOf(version: string): readonly string[] {
  const [name, number] = version.split('.');
  const json = loadReleasedSchemas().filter((schema) => schema.name === name)[Number(number) - 1]?.json;
  const { fields } = JSON.parse(json ?? '{}') as { fields: readonly { name: string }[] };
  return fields.map((field) => field.name);
}

describe('the codec', () => {
  test.each(names)('%s comes back as it was written', (name) => {
    const decoded = decodeRecord(encodeRecord(name, sampleRecords[name] as never));
    expect(decoded.name).toBe(name);
    expect(plain(decoded.value)).toEqual(plain(sampleRecords[name]));
  });

  test.each(Object.keys(golden))(
    'the bytes of %s, written when it was released, still decode',
    (released) => {
      const name = released.replace(/\.\d+$/, '') as RecordName;
      const decoded = decodeRecord(Buffer.from(golden[released] ?? '', 'hex'));
      expect(decoded.name).toBe(name);
      const fields = fieldsOf(released);
      const expected = Object.entries(plain(sampleRecords[name]) as object).map(([field, value]) =>
        // What was added later has its default in older records.
        [field, fields.includes(field) ? value : null],
      );
      expect(plain(decoded.value)).toEqual(Object.fromEntries(expected));
    },
  );

  test('bytes that are no record of ours are refused with a reason', () => {
    const whole = encodeRecord('WalletOpened', sampleRecords.WalletOpened);
    expect(() => decodeRecord(Buffer.from('{"json":true}'))).toThrow(UnreadableRecord);
    expect(() => decodeRecord(Buffer.alloc(0))).toThrow(/marker/);
    expect(() => decodeRecord(whole.subarray(0, whole.length - 5))).toThrow(/whole WalletOpened/);
    const unknownSchema = Buffer.from(whole);
    unknownSchema.fill(0, 2, 10);
    expect(() => decodeRecord(unknownSchema)).toThrow(/schemas\/released/);
  });

  test('an amount that is no whole number cannot be written', () => {
    const value = { ...sampleRecords.WalletToppedUp, amount_cents: 1.5 };
    expect(() => encodeRecord('WalletToppedUp', value)).toThrow(/1\.5/);
    const tooLarge = { ...sampleRecords.WalletToppedUp, amount_cents: 2 ** 60 };
    expect(() => encodeRecord('WalletToppedUp', tooLarge)).toThrow();
  });

  test('fingerprints are the CRC-64-AVRO that other Avro libraries compute', () => {
    // The Avro specification's test vectors for the canonical forms of two primitive types.
    expect(rabinFingerprint('"int"').toString('hex')).toBe('8f5c393f1ad57572');
    expect(rabinFingerprint('"null"').readBigUInt64LE()).toBe(7195948357588979594n);
  });

  test('records.ts is what the schemas say', () => {
    const written = readFileSync(new URL('../../../schemas/records.ts', import.meta.url), 'utf8');
    const squeeze = (text: string) => text.replace(/[\s'",;|]+/g, '');
    expect(squeeze(written)).toBe(squeeze(recordTypesSource(loadCurrentSchemas())));
  });
});

describe('released schemas', () => {
  const released = loadReleasedSchemas();
  const current = loadCurrentSchemas();

  test.each(current.map((schema) => schema.name))('%s is released as it stands', (name) => {
    const { fingerprint } = current.find((schema) => schema.name === name) ?? { fingerprint: 'none' };
    expect(released.map((schema) => schema.fingerprint)).toContain(fingerprint);
  });

  test.each(released.map((schema) => [schema.name, schema] as const))(
    '%s: every version reads every other (FULL_TRANSITIVE)',
    (name, schema) => {
      for (const other of released.filter((candidate) => candidate.name === name)) {
        expect(() => schema.type.createResolver(other.type)).not.toThrow();
        expect(() => other.type.createResolver(schema.type)).not.toThrow();
      }
    },
  );

  test('every released version has its golden record', () => {
    const versions = new Map<string, number>();
    for (const { name } of released) versions.set(name, (versions.get(name) ?? 0) + 1);
    const wanted = [...versions].flatMap(([name, count]) =>
      Array.from({ length: count }, (_, index) => `${name}.${index + 1}`),
    );
    expect(Object.keys(golden).sort()).toEqual(wanted.sort());
  });
});
