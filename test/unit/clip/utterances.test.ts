import { describe, expect, test } from 'vitest';
import { windowMs } from '#workers/media/speech/sound-windows.ts';
import { utterances } from '#workers/media/speech/utterances.ts';

/** Alternating stretches of [seconds, probability]. */
function activity(...stretches: (readonly [number, number])[]) {
  const probabilities = stretches.flatMap(([seconds, probability]) =>
    Array.from({ length: Math.round((seconds * 1000) / windowMs) }, () => probability),
  );
  return {
    probabilities: Float32Array.from(probabilities),
    levels: new Float32Array(probabilities.length).fill(-20),
  };
}

const seconds = (ms: number) => Math.round(ms / 100) / 10;

describe('utterances', () => {
  test('are bounded by pauses', () => {
    const spans = utterances(activity([1, 0], [3, 0.9], [0.5, 0.1], [2, 0.8], [1, 0]));
    expect(spans.map((span) => [seconds(span.startMs), seconds(span.endMs)])).toEqual([
      [1, 4],
      [4.5, 6.5],
    ]);
  });

  test('a short gap and a weak syllable do not part them', () => {
    expect(utterances(activity([2, 0.9], [0.1, 0], [1, 0.4], [1, 0.9]))).toHaveLength(1);
  });

  test('weak noise never starts one, and a click is none', () => {
    expect(utterances(activity([5, 0.45], [0.1, 0.9], [5, 0]))).toEqual([]);
  });

  test('speech without a pause is parted at its weakest point', () => {
    const spans = utterances(activity([12, 0.9], [0.1, 0.4], [12, 0.9]));
    expect(spans).toHaveLength(2);
    expect(seconds(spans[0]?.endMs ?? 0)).toBe(12);
    expect(spans[1]?.startMs).toBe(spans[0]?.endMs);
  });

  test('silence and no sound at all have none', () => {
    expect(utterances(activity([30, 0]))).toEqual([]);
    expect(utterances(activity())).toEqual([]);
  });
});
