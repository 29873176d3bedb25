import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { apiKeyPrefix, hashApiKey, isWellFormedApiKey, newApiKey } from '#api/api-key.ts';

describe('API keys', () => {
  test('a new key has the prefix, 30 random and 6 check characters', () => {
    const keys = Array.from({ length: 200 }, newApiKey);
    for (const key of keys) {
      expect(key).toMatch(/^cl_[0-9A-Za-z]{36}$/);
      expect(isWellFormedApiKey(key)).toBe(true);
    }
    expect(new Set(keys).size).toBe(200);
  });

  test('any single wrong character is told without a look-up', () => {
    const key = newApiKey();
    for (let index = 3; index < key.length; index += 1) {
      const wrong = key.slice(0, index) + (key[index] === 'a' ? 'b' : 'a') + key.slice(index + 1);
      expect(isWellFormedApiKey(wrong)).toBe(false);
    }
  });

  test.each(['', 'cl_', 'x', `${newApiKey()}0`, newApiKey().slice(1), ` ${newApiKey()}`, `${newApiKey()}\n`])(
    'text that is no key at all is refused (%j)',
    (text) => expect(isWellFormedApiKey(text)).toBe(false),
  );

  test('what is stored of a key is its SHA-256 and its first 8 characters', () => {
    const key = newApiKey();
    expect(hashApiKey(key)).toEqual(createHash('sha256').update(key).digest());
    expect(apiKeyPrefix(key)).toBe(key.slice(0, 8));
  });
});
