import type { SoundAnalysis, SpokenWord } from '../../media/analysis/analysis-schema.ts';

/** A sentence as it was heard, in its place. */
export type Sentence = {
  readonly text: string;
  readonly words: readonly SpokenWord[];
  readonly startMs: number;
  readonly endMs: number;
  /** Mean of its words, 0 to 1. */
  readonly confidence: number;
  /** Whether it ends on a full stop or the like, not only in a pause. */
  readonly isClosed: boolean;
  /** Silence since the sentence before, and until the next; negative where the times of words overlap. */
  readonly gapBeforeMs: number;
  readonly gapAfterMs: number;
};

/**
 * Below this a transcript is noise: another language, singing, or sound that the model took for speech. Measured as in
 * `isNonsense`: people who speak English 0.70 (five-word commands, a crowd) to 0.98, by telephone 0.83, a synthesiser
 * 0.79 to 0.93; prompts read by people in French, Spanish, Italian and Russian, and nine languages by synthesisers, all
 * below 0.58, most below 0.45.
 */
const understoodConfidence = 0.62;
/** So many words in the same order once more: the recogniser repeats itself, and the surer each time. */
const repeatedWords = 4;
const fewestWords = 4;
/** A pause this long parts sentences, but not where the next word goes on with the same one. */
const partingPauseMs = 700;
const longestInnerPauseMs = 2_000;
/** A cut of the picture in a pause this long parts sentences, whatever the recogniser made of them. */
const cutPauseMs = 200;
/** A capital after a pause this long begins a sentence although no full stop was heard. */
const capitalPauseMs = 350;
const longestSentenceMs = 30_000;

/**
 * The sentences of a source, parted better than the recogniser's punctuation does: it works in pieces of a few
 * seconds, and puts a pause where a sentence goes on, or none where a new voice begins. Empty when what was heard
 * makes no sense, such as another language. Pure.
 */
export function understoodSentences(
  sound: SoundAnalysis | null,
  source: { readonly durationMs: number; readonly cutsMs: readonly number[] },
): readonly Sentence[] {
  const { durationMs, cutsMs } = source;
  const words = (sound?.words ?? []).filter((word) => word.end_ms <= durationMs);
  if (words.length < fewestWords || isNonsense(words)) return [];
  const heardStarts = new Set(sound?.sentence_starts ?? []);
  const afterCut = wordsAfterCuts(words, cutsMs);
  const starts = words.flatMap((_, at) =>
    afterCut.has(at) || startsSentence(words, at, heardStarts) ? [at] : [],
  );
  const ranges = starts.map((start, order) => ({ start, end: starts[order + 1] ?? words.length }));
  return mergedFragments(words, ranges, afterCut).map((range, order, all) =>
    sentence(words, range, all[order - 1], all[order + 1], durationMs),
  );
}

/**
 * Whether the words of a whole source are what a recogniser makes of a language that it does not know: none of
 * them is to be shown, read or chosen by. Fewer than four words say too little to tell. Pure.
 */
export function isNonsense(words: readonly Pick<SpokenWord, 'text' | 'confidence'>[]): boolean {
  return words.length >= fewestWords && meanConfidence(withoutRepeats(words)) < understoodConfidence;
}

/** The words without the runs of four that were heard before, wherever that was. */
function withoutRepeats<Word extends Pick<SpokenWord, 'text'>>(words: readonly Word[]): readonly Word[] {
  const bare = words.map(({ text }) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ''));
  const heard = new Set<string>();
  const repeated = new Set<number>();
  for (let at = 0; at + repeatedWords <= bare.length; at += 1) {
    const run = bare.slice(at, at + repeatedWords).join(' ');
    if (heard.has(run)) for (let word = at; word < at + repeatedWords; word += 1) repeated.add(word);
    heard.add(run);
  }
  return words.filter((_, at) => !repeated.has(at));
}

/** The numbers of the words that follow a pause in which the picture cuts. */
function wordsAfterCuts(words: readonly SpokenWord[], cutsMs: readonly number[]): ReadonlySet<number> {
  const found = new Set<number>();
  let cut = 0;
  for (const [at, word] of words.entries()) {
    const lastEndMs = words[at - 1]?.end_ms ?? 0;
    while (cut < cutsMs.length && (cutsMs[cut] ?? 0) < lastEndMs) cut += 1;
    const isCut = (cutsMs[cut] ?? Number.POSITIVE_INFINITY) <= word.start_ms;
    if (isCut && word.start_ms - lastEndMs >= cutPauseMs) found.add(at);
  }
  return found;
}

type WordRange = { readonly start: number; readonly end: number };

function startsSentence(words: readonly SpokenWord[], at: number, heardStarts: ReadonlySet<number>): boolean {
  const [last, next] = [words[at - 1], words[at]];
  if (last === undefined || next === undefined) return true;
  const gapMs = next.start_ms - last.end_ms;
  const closed = closes(last.text);
  const goesOn = !closed && /^\p{Ll}/u.test(next.text) && gapMs <= longestInnerPauseMs;
  if (heardStarts.has(at)) return !goesOn;
  if (gapMs >= partingPauseMs && !goesOn) return true;
  return (
    !/,$/.test(last.text) &&
    gapMs >= capitalPauseMs &&
    /^\p{Lu}\p{Ll}/u.test(next.text) &&
    !/^I\b/.test(next.text)
  );
}

/** One or two words without an end of their own belong to what follows closely. */
function mergedFragments(
  words: readonly SpokenWord[],
  ranges: readonly WordRange[],
  afterCut: ReadonlySet<number>,
): readonly WordRange[] {
  const merged: WordRange[] = [];
  for (const range of ranges) {
    const before = merged.at(-1);
    const first = words[range.start];
    const last = before === undefined ? undefined : words[before.end - 1];
    const joins =
      before !== undefined &&
      !afterCut.has(range.start) &&
      first !== undefined &&
      last !== undefined &&
      before.end - before.start <= 2 &&
      !closes(last.text) &&
      first.start_ms - last.end_ms <= longestInnerPauseMs &&
      (words[range.end - 1]?.end_ms ?? 0) - (words[before.start]?.start_ms ?? 0) <= longestSentenceMs;
    if (joins) merged[merged.length - 1] = { start: before.start, end: range.end };
    else merged.push(range);
  }
  return merged;
}

function sentence(
  words: readonly SpokenWord[],
  range: WordRange,
  before: WordRange | undefined,
  after: WordRange | undefined,
  durationMs: number,
): Sentence {
  const own = words.slice(range.start, range.end);
  const startMs = own[0]?.start_ms ?? 0;
  const endMs = own.at(-1)?.end_ms ?? startMs;
  const lastEndMs = before === undefined ? 0 : (words[before.end - 1]?.end_ms ?? 0);
  const nextStartMs = after === undefined ? durationMs : (words[after.start]?.start_ms ?? durationMs);
  return {
    text: own.map((word) => word.text).join(' '),
    words: own,
    startMs,
    endMs,
    confidence: meanConfidence(own),
    isClosed: closes(own.at(-1)?.text ?? ''),
    gapBeforeMs: startMs - lastEndMs,
    gapAfterMs: nextStartMs - endMs,
  };
}

function closes(word: string): boolean {
  return /[.!?…]["'”’)\]]*$/.test(word);
}

function meanConfidence(words: readonly Pick<SpokenWord, 'confidence'>[]): number {
  return words.reduce((sum, word) => sum + word.confidence, 0) / Math.max(1, words.length);
}
