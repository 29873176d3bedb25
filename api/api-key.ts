import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * An API key is `cl_`, 30 random base62 characters and the CRC32 of these in 6 base62 characters: a typo
 * is told from a key without a look-up. Only its SHA-256 and its first characters are ever kept.
 */

const MARK = 'cl_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 30;
const CHECK_CHARACTERS = 6;
const PREFIX_CHARACTERS = 8;
const keyPattern = /^cl_[0-9A-Za-z]{36}$/;

/** A new key's value; 178 bits of it are random. */
export function newApiKey(): string {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => ALPHABET.charAt(randomInt(ALPHABET.length)));
  const body = MARK + random.join('');
  return body + checkCharacters(body);
}

/** Whether `text` has the form and the check characters of a key. */
export function isWellFormedApiKey(text: string): boolean {
  if (!keyPattern.test(text)) return false;
  return text.endsWith(checkCharacters(text.slice(0, -CHECK_CHARACTERS)));
}

/** What is stored of a key and looked up by. */
export const hashApiKey = (key: string): Buffer => createHash('sha256').update(key).digest();

/** The part of a key that may be shown after its creation. */
export const apiKeyPrefix = (key: string): string => key.slice(0, PREFIX_CHARACTERS);

function checkCharacters(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let index = 0; index < CHECK_CHARACTERS; index += 1) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
