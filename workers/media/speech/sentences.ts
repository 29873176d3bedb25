import type { TimedWord } from './timed-words.ts';

/** Without punctuation, a silence this long parts sentences. */
const partingPauseMs = 1_000;
const longestSentenceMs = 30_000;
const abbreviation = /^(?:mr|mrs|ms|dr|st|vs|jr|sr|prof|gen|etc|[a-z])\.$/i;

/** The number of the first word of each sentence, ascending. Pure. */
export function sentenceStarts(words: readonly TimedWord[]): readonly number[] {
  const starts = words.flatMap((_, index) => (index === 0 || endsBefore(words, index) ? [index] : []));
  return starts.flatMap((start, index) => partLong(words, start, starts[index + 1] ?? words.length));
}

/** Whether a sentence ends just before word `index`. */
function endsBefore(words: readonly TimedWord[], index: number): boolean {
  const [last, next] = [words[index - 1], words[index]];
  if (last === undefined || next === undefined) return false;
  if (next.startMs - last.endMs >= partingPauseMs) return true;
  return /[.!?]["')\]]*$/.test(last.text) && !abbreviation.test(last.text);
}

/** The starts of the parts of a sentence, halved at its longest pause until each part is short enough. */
function partLong(words: readonly TimedWord[], start: number, end: number): readonly number[] {
  const [first, last] = [words[start], words[end - 1]];
  if (first === undefined || last === undefined || end - start < 2) return [start];
  if (last.endMs - first.startMs <= longestSentenceMs) return [start];
  let middle = start + 1;
  for (let index = start + 1; index < end; index += 1) {
    if (pauseBefore(words, index) > pauseBefore(words, middle)) middle = index;
  }
  return [...partLong(words, start, middle), ...partLong(words, middle, end)];
}

function pauseBefore(words: readonly TimedWord[], index: number): number {
  return (words[index]?.startMs ?? 0) - (words[index - 1]?.endMs ?? 0);
}
