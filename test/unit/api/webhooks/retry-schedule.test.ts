import { expect, test } from 'vitest';
import { retryAfterMs, retryPauseMs } from '#api/webhooks/retry-schedule.ts';

const hourMs = 3_600_000;
const pauses = (random: number) =>
  Array.from({ length: 12 }, (_, index) => retryPauseMs(index + 1, random)).filter(
    (pause) => pause !== undefined,
  );

test('ten pauses grow from seconds to hours and span about a day', () => {
  expect(pauses(0.5).map((pauseMs) => pauseMs / 1_000)).toEqual([
    5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 28_800,
  ]);
  const totalMs = pauses(0.5).reduce((sum, pauseMs) => sum + pauseMs, 0);
  expect(totalMs / hourMs).toBeCloseTo(23.7, 1);
  expect(retryPauseMs(11, 0.5)).toBeUndefined();
});

test('jitter moves a pause by a tenth at most', () => {
  expect([retryPauseMs(4, 0), retryPauseMs(4, 1)]).toEqual([540_000, 660_000]);
});

test('an endpoint may ask for a longer pause, within reason, and never for a shorter one', () => {
  expect(retryPauseMs(1, 0.5, 90_000)).toBe(90_000);
  expect(retryPauseMs(4, 0.5, 1_000)).toBe(600_000);
  expect(retryPauseMs(1, 0.5, 100 * hourMs)).toBe(8 * hourMs);
  expect(retryPauseMs(11, 0.5, 1_000)).toBeUndefined();
});

test.each([
  [undefined, undefined],
  ['120', 120_000],
  [' 5 ', 5_000],
  ['Wed, 21 Oct 2026 07:28:30 GMT', 30_000],
  ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
  ['-5', undefined],
  ['1e9', undefined],
  ['soon', undefined],
  ['2026', 2_026_000],
])('Retry-After %j asks for %j ms', (header, expected) => {
  expect(retryAfterMs(header, new Date('2026-10-21T07:28:00Z'))).toBe(expected);
});
