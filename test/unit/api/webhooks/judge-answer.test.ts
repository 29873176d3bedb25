import { expect, test } from 'vitest';
import { judgeAnswer } from '#api/webhooks/attempt-delivery.ts';

const now = new Date('2026-10-21T07:28:00Z');
const judge = (status: number, retryAfter?: string) =>
  judgeAnswer({ status, retryAfter }, 'hooks.example', now);

test.each([200, 201, 204, 299])('%i is a delivery', (status) => {
  expect(judge(status)).toEqual({ outcome: 'delivered', statusCode: status });
});

test.each([199, 300, 301, 304, 400, 404, 429, 500, 502, 503, 504])('%i is tried again', (status) => {
  expect(judge(status)).toMatchObject({ outcome: 'failed', statusCode: status, isFinal: false });
});

test('410 is not tried again', () => {
  expect(judge(410)).toMatchObject({
    isFinal: true,
    error: 'hooks.example answered 410 (gone), so nothing more is sent.',
  });
});

test('a redirect says what to do', () => {
  expect(judge(308)).toMatchObject({
    error: 'hooks.example answered 308, and redirects are not followed: give the final URL.',
  });
});

test('what the endpoint asks for is passed on', () => {
  expect(judge(429, '60')).toMatchObject({ askedMs: 60_000 });
  expect(judge(503, 'Wed, 21 Oct 2026 07:30:00 GMT')).toMatchObject({ askedMs: 120_000 });
  expect(judge(500)).toMatchObject({ askedMs: undefined });
});
