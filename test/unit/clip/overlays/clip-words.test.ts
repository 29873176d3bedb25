import { expect, test } from 'vitest';
import { wordsInClipTime } from '#workers/clip/overlays/clip-words.ts';

const word = (text: string, start_ms: number, end_ms: number) => ({
  text,
  start_ms,
  end_ms,
  confidence: 0.9,
});
const words = [
  word('one', 1_000, 1_400),
  word('two', 1_500, 1_900),
  word('three', 2_000, 2_400),
  word('four', 10_000, 10_300),
  word('five', 10_400, 10_800),
];
const times = (cuts: Parameters<typeof wordsInClipTime>[1]) =>
  wordsInClipTime(words, cuts).map(({ text, start_ms, end_ms, cut }) => [text, start_ms, end_ms, cut]);

test('words keep their time after the clip’s start, through every cut', () => {
  const cuts = [
    { start_ms: 900, end_ms: 2_500 },
    { start_ms: 9_800, end_ms: 11_000 },
  ];
  expect(times(cuts)).toEqual([
    ['one', 100, 500, 0],
    ['two', 600, 1_000, 0],
    ['three', 1_100, 1_500, 0],
    ['four', 1_800, 2_100, 1],
    ['five', 2_200, 2_600, 1],
  ]);
});

test('a teaser’s words come first, and again where they play again', () => {
  const cuts = [
    { start_ms: 9_900, end_ms: 10_900 },
    { start_ms: 900, end_ms: 1_450 },
    { start_ms: 9_900, end_ms: 10_350 },
  ];
  expect(times(cuts)).toEqual([
    ['four', 100, 400, 0],
    ['five', 500, 900, 0],
    ['one', 1_100, 1_500, 1],
    ['four', 1_650, 1_950, 2],
  ]);
});

test('a word that an edge cuts off is left out; one that an edge only touches stays inside', () => {
  const cuts = [{ start_ms: 1_050, end_ms: 2_200 }];
  expect(times(cuts)).toEqual([
    ['one', 0, 350, 0],
    ['two', 450, 850, 0],
  ]);
});
