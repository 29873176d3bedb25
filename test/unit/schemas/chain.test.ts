import { describe, expect, test } from 'vitest';
import { genesisHash, HASH_BYTES, isSealIntact, sealEvent } from '#schemas/chain.ts';
import { decodeRecord } from '#schemas/codec.ts';
import { recordNames } from '#schemas/records.ts';
import { loadReleasedSchemas } from '#schemas/schema-files.ts';
import { sampleRecords } from './sample-records.ts';

describe('the hash chain', () => {
  test('a sealed event says the hash of its own bytes', () => {
    const { event, bytes } = sealEvent('WalletToppedUp', sampleRecords.WalletToppedUp);
    expect(isSealIntact(bytes)).toBe(true);
    const decoded = decodeRecord(bytes);
    expect(decoded.name === 'WalletToppedUp' && decoded.value.hash.equals(event.hash)).toBe(true);
  });

  test('any changed byte breaks the seal', () => {
    const { bytes } = sealEvent('WalletDebited', sampleRecords.WalletDebited);
    const broken = Array.from(bytes.keys()).filter((index) => {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      return !isSealIntact(changed);
    });
    expect(broken).toHaveLength(bytes.length);
  });

  test('the event before is part of what is sealed', () => {
    const first = sealEvent('BillingActivated', {
      ...sampleRecords.BillingActivated,
      prev_hash: genesisHash,
    });
    const second = sealEvent('BillingActivated', {
      ...sampleRecords.BillingActivated,
      prev_hash: first.event.hash,
    });
    expect(second.event.hash.equals(first.event.hash)).toBe(false);
  });

  test('the hash is the last field of every released version of a chained record', () => {
    const chainedNames: readonly string[] = [...recordNames.wallet, ...recordNames.team].filter(
      (name) => name !== 'LedgerOwnerElected',
    );
    for (const { json } of loadReleasedSchemas().filter(({ name }) => chainedNames.includes(name))) {
      expect(JSON.parse(json).fields.at(-1)).toMatchObject({ name: 'hash', type: 'Sha256' });
    }
    expect(HASH_BYTES).toBe(32);
  });
});
