import type { TimedWord } from '../timed-words.ts';

/** A token of a transcript, and when it begins to be said. */
export type TimedToken = {
  readonly token: number;
  readonly startMs: number;
  /** A natural logarithm: 0 and below. */
  readonly logProbability: number;
};

/** The part of the library's Whisper tokenizer that groups tokens into words, punctuation with its word. */
export type WordSplitter = {
  /** Words, their tokens, and the numbers of these in the list. */
  readonly combineTokensIntoWords: (
    tokens: number[],
    language: string,
  ) => readonly [readonly string[], readonly number[][], readonly number[][]];
};

/** Written without spaces: the splitter then takes each character for a word, and goes by these names. */
const unspaced = new Map([
  ['zh', 'chinese'],
  ['yue', 'chinese'],
  ['ja', 'japanese'],
  ['th', 'thai'],
  ['lo', 'lao'],
  ['my', 'myanmar'],
]);

/** The words of a stretch of sound that lasts `durationMs`; times count from its beginning. Pure. */
export function whisperWords(
  tokens: readonly TimedToken[],
  context: { readonly splitter: WordSplitter; readonly language: string; readonly durationMs: number },
): readonly TimedWord[] {
  const { splitter, language, durationMs } = context;
  const [texts, , numbers] = splitter.combineTokensIntoWords(
    tokens.map(({ token }) => token),
    unspaced.get(language) ?? 'english',
  );
  return texts.flatMap((spelled, word) => {
    const own = numbers[word] ?? [];
    const first = tokens[own[0] ?? -1];
    const text = spelled.trim();
    // Marks such as `<|endoftext|>` are no words, and what is merged into a neighbour leaves an empty one.
    if (first === undefined || text === '' || /^<\|.*\|>$/.test(text)) return [];
    // Its last token ends where the next begins, whatever word that belongs to; the last of all with the sound.
    const endMs = tokens[(own.at(-1) ?? 0) + 1]?.startMs ?? durationMs;
    const logs = own.map((number) => tokens[number]?.logProbability ?? 0);
    const confidence = Math.exp(logs.reduce((sum, each) => sum + each, 0) / logs.length);
    // The library counts a frame from -1.
    const startMs = Math.min(Math.max(0, first.startMs), durationMs);
    return [{ text, startMs, endMs: Math.min(Math.max(startMs, endMs), durationMs), confidence }];
  });
}
