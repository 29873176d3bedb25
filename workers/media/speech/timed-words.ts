import type { HeardTokens } from './speech-model.ts';
import { alignTokens } from './token-alignment.ts';
import { beginsWord, type TokenVocabulary, tokensText } from './token-vocabulary.ts';

/** A word and when it is said. */
export type TimedWord = {
  /** With its punctuation. */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** The geometric mean of its tokens' probabilities, 0 to 1. */
  readonly confidence: number;
};

/** The words of a stretch of sound that lasts `durationMs`; times count from its beginning. Pure. */
export function timedWords(
  heard: HeardTokens,
  vocabulary: TokenVocabulary,
  durationMs: number,
): readonly TimedWord[] {
  const starts = alignTokens(heard);
  const atMs = (token: number): number => ((starts[token] ?? heard.frames) * durationMs) / heard.frames;
  return wordRanges(heard.tokens, vocabulary).flatMap(({ first, end }) => {
    const pieces = heard.tokens.slice(first, end).map((token) => vocabulary[token] ?? Buffer.alloc(0));
    const text = tokensText(pieces).trim();
    if (text === '') return [];
    const logs = heard.logProbabilities.slice(first, end);
    const confidence = Math.exp(logs.reduce((sum, each) => sum + each, 0) / logs.length);
    return [{ text, startMs: atMs(first), endMs: atMs(end), confidence }];
  });
}

/** Tokens `first` to `end` (exclusive) make a word. */
function wordRanges(
  tokens: readonly number[],
  vocabulary: TokenVocabulary,
): readonly { readonly first: number; readonly end: number }[] {
  const firsts = tokens.flatMap((token, index) =>
    index === 0 || beginsWord(vocabulary[token] ?? Buffer.alloc(0)) ? [index] : [],
  );
  return firsts.map((first, index) => ({ first, end: firsts[index + 1] ?? tokens.length }));
}
