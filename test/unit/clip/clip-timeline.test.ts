import { describe, expect, test } from 'vitest';
import { playedCuts, playedMs, sourceTimeAt } from '#workers/clip/clip-timeline.ts';

const cuts = [
  { start_ms: 20_000, end_ms: 22_500 },
  { start_ms: 3_000, end_ms: 13_000 },
];

describe('the timeline of a clip', () => {
  test('cuts play one after the other, in whole frames', () => {
    expect(playedCuts(cuts, '25')).toMatchObject([
      { frames: 63, clipStartMs: 0, clipEndMs: 2_520 },
      { frames: 250, clipStartMs: 2_520, clipEndMs: 12_520 },
    ]);
    expect(playedMs(cuts)).toBe(12_500);
  });

  test('a cut shorter than a frame still shows one', () => {
    expect(playedCuts([{ start_ms: 0, end_ms: 5 }], '30000/1001')[0]?.frames).toBe(1);
  });

  test.each([
    [0, 20_000],
    [2_499, 22_499],
    [2_500, 3_000],
    [12_499, 12_999],
    [99_000, 13_000],
  ])('%i ms into the clip is %i ms of the source', (clipMs, sourceMs) =>
    expect(sourceTimeAt(cuts, clipMs)).toBe(sourceMs),
  );
});
