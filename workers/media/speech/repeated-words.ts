import type { TimedWord } from './timed-words.ts';

const longestPhraseWords = 5;
/** Said once more than this, it is the model that is caught in a loop, not the speaker. */
const mostRepeats = 3;

/** The words without loops: a phrase that follows itself more than three times is kept once. Pure. */
export function withoutLoops(words: readonly TimedWord[]): readonly TimedWord[] {
  const kept: TimedWord[] = [];
  for (let index = 0; index < words.length; ) {
    const loop = loopAt(words, index);
    kept.push(...words.slice(index, index + loop.phrase));
    index += loop.phrase * loop.times;
  }
  return kept;
}

function loopAt(words: readonly TimedWord[], index: number): { phrase: number; times: number } {
  for (let phrase = 1; phrase <= longestPhraseWords; phrase += 1) {
    let times = 1;
    while (isSame(words, index, index + phrase * times, phrase)) times += 1;
    if (times > mostRepeats) return { phrase, times };
  }
  return { phrase: 1, times: 1 };
}

function isSame(words: readonly TimedWord[], one: number, other: number, count: number): boolean {
  for (let offset = 0; offset < count; offset += 1) {
    const word = words[other + offset]?.text.toLowerCase();
    if (word === undefined || word !== words[one + offset]?.text.toLowerCase()) return false;
  }
  return true;
}
