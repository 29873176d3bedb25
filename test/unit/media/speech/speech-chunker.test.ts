import { describe, expect, test } from 'vitest';
import { windowMs } from '#workers/media/speech/sound-windows.ts';
import { SpeechChunker } from '#workers/media/speech/speech-chunker.ts';

/** The stretches of [seconds, probability] in turn, in seconds, and how many windows were kept at most. */
function chunk(...stretches: readonly (readonly [number, number])[]) {
  const chunker = new SpeechChunker();
  const ranges = [];
  let [window, longest] = [0, 0];
  for (const [seconds, probability] of stretches) {
    for (let left = Math.round((seconds * 1000) / windowMs); left > 0; left -= 1) {
      ranges.push(...chunker.push(probability));
      window += 1;
      longest = Math.max(longest, window - chunker.firstNeeded);
    }
  }
  ranges.push(...chunker.finish());
  const seconds = (at: number) => Math.round((at * windowMs) / 100) / 10;
  return { ranges: ranges.map(({ start, end }) => [seconds(start), seconds(end)]), longest };
}

describe('stretches for speech recognition', () => {
  test('are parted by long pauses and joined over short ones', () => {
    const { ranges } = chunk([1, 0], [2, 0.9], [0.6, 0], [2, 0.9], [3, 0], [1, 0.9], [1, 0]);
    expect(ranges).toEqual([
      [1, 5.6],
      [8.6, 9.6],
    ]);
  });

  test('are not joined to more than 14 seconds', () => {
    const { ranges } = chunk([9, 0.9], [0.5, 0], [9, 0.9], [2, 0]);
    expect(ranges).toEqual([
      [0, 9],
      [9.5, 18.5],
    ]);
  });

  test('without any pause are parted where speech is least likely', () => {
    const { ranges, longest } = chunk([10, 0.9], [0.1, 0.4], [20, 0.9]);
    expect(ranges[0]?.[0]).toBe(0);
    expect(ranges[0]?.[1]).toBeCloseTo(10, 0);
    expect(ranges[1]?.[0]).toBe(ranges[0]?.[1]);
    expect(ranges.at(-1)?.[1]).toBe(30.1);
    for (const [start = 0, end = 0] of ranges) expect(end - start).toBeLessThanOrEqual(14.1);
    expect(longest * windowMs).toBeLessThan(30_000);
  });

  test('silence gives none, and nothing of it is kept', () => {
    expect(chunk([60, 0.1])).toEqual({ ranges: [], longest: 0 });
  });
});
