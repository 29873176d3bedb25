import type { SpokenWord } from '../../media/analysis/analysis-schema.ts';
import type { Cut } from '../choose/chosen-clip.ts';

/** A word that is heard whole in the clip; times are milliseconds of the CLIP. */
export type ClipWord = {
  readonly text: string;
  readonly start_ms: number;
  readonly end_ms: number;
  /** 0 to 1, as in the analysis. */
  readonly confidence: number;
  /** Number of the cut in which it is heard. */
  readonly cut: number;
};

/** Word edges are known to some 60 ms: a word that goes this far over a cut is still heard whole. */
const edgeToleranceMs = 60;

/**
 * The words heard in a clip, at their times in it, cut by cut in the order in which they play. What a cut's edge
 * cuts off is left out, for nobody hears such a word. Pure.
 */
export function wordsInClipTime(words: readonly SpokenWord[], cuts: readonly Cut[]): readonly ClipWord[] {
  let playedMs = 0;
  return cuts.flatMap((cut, number) => {
    const offsetMs = playedMs - cut.start_ms;
    playedMs += cut.end_ms - cut.start_ms;
    return words.filter((word) => isWhole(word, cut)).map((word) => clipWord(word, cut, offsetMs, number));
  });
}

function isWhole(word: SpokenWord, cut: Cut): boolean {
  return word.start_ms >= cut.start_ms - edgeToleranceMs && word.end_ms <= cut.end_ms + edgeToleranceMs;
}

function clipWord(word: SpokenWord, cut: Cut, offsetMs: number, number: number): ClipWord {
  const start = Math.max(word.start_ms, cut.start_ms) + offsetMs;
  const end = Math.min(word.end_ms, cut.end_ms) + offsetMs;
  return {
    text: word.text,
    start_ms: Math.round(start),
    end_ms: Math.round(Math.max(start, end)),
    confidence: word.confidence,
    cut: number,
  };
}
