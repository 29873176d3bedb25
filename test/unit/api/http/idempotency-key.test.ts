import { expect, test } from 'vitest';
import { idempotentCommandId, parseIdempotencyKey, requestHash } from '#api/http/idempotency-key.ts';

test.each(['a', 'x'.repeat(255), 'order 17/b', '~!@#'])('%j is an Idempotency-Key', (key) =>
  expect(parseIdempotencyKey(key)).toEqual({ key }),
);

test.each(['', 'x'.repeat(256), 'ü', 'a\tb', '\u0000'])('%j is refused', (key) =>
  expect(parseIdempotencyKey(key)).toMatchObject({ refused: { status: 400 } }),
);

test('no header is no key', () => expect(parseIdempotencyKey(undefined)).toEqual({ key: undefined }));

test('the command id follows from team and key', () => {
  expect(idempotentCommandId(1, 'a')).toBe(idempotentCommandId(1, 'a'));
  const others = [idempotentCommandId(2, 'a'), idempotentCommandId(1, 'b'), idempotentCommandId(11, ':a')];
  expect(new Set([...others, idempotentCommandId(1, 'a'), idempotentCommandId(1, '1:a')]).size).toBe(5);
});

test('the request hash tells operations and requests apart', () => {
  const hashes = [requestHash('a', { n: 1 }), requestHash('b', { n: 1 }), requestHash('a', { n: 2 })];
  expect(new Set(hashes).size).toBe(3);
  expect(requestHash('a', { n: 1 })).toMatch(/^[0-9a-f]{64}$/);
});

test('where the end is announced is part of the request', () => {
  const hashes = [null, 'https://a.example/', 'https://b.example/'].map((url) => requestHash('a', {}, url));
  expect(new Set(hashes).size).toBe(3);
  expect(hashes[0]).toBe(requestHash('a', {}));
});
