import type { ClipWord } from './clip-words.ts';

/** A word that the recogniser all but guessed. */
const leastConfidence = 0.3;
/** A phrase of such words is noise or another language heard as English: better nothing than nonsense. */
const leastPhraseConfidence = 0.55;
const phrasePauseMs = 500;

/** The words worth burning in: without marks of noise and without what was only guessed. Pure. */
export function captionWords(words: readonly ClipWord[]): readonly ClipWord[] {
  return phrases(words.flatMap(cleaned))
    .filter((phrase) => meanConfidence(phrase) >= leastPhraseConfidence)
    .flatMap((phrase) => phrase.filter(({ confidence }) => confidence >= leastConfidence));
}

/** Recognisers write sounds as `[Music]`, `(laughs)`, `*sighs*` or notes; none of that is said. */
const soundMark = /[[(*][^\])*]*[\])*]|[♩-♯]|<[^>]*>/gu;

/** Controls, emoji, and what steers the writing direction; the joiners of Persian and Indic scripts stay. */
const unshown =
  /[\p{Cc}\p{Cs}\p{Co}\p{Extended_Pictographic}]|[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\ufe0f/gu;

/** A word as it may be shown: one line, no control characters, no emoji; none where nothing is left of it. */
function cleaned(word: ClipWord): readonly ClipWord[] {
  const text = word.text.replace(soundMark, '').replace(unshown, '').replace(/\s+/g, ' ').trim();
  return /[\p{L}\p{N}]/u.test(text) ? [{ ...word, text }] : [];
}

/** Stretches between pauses, sentence ends and cuts. */
function phrases(words: readonly ClipWord[]): readonly (readonly ClipWord[])[] {
  const found: ClipWord[][] = [];
  words.forEach((word, index) => {
    const last = words[index - 1];
    if (last === undefined || parts(last, word)) found.push([]);
    found.at(-1)?.push(word);
  });
  return found;
}

/** Whether a phrase ends between two words. Pure. */
export function parts(last: ClipWord, next: ClipWord): boolean {
  return last.cut !== next.cut || endsSentence(last.text) || next.start_ms - last.end_ms >= phrasePauseMs;
}

function endsSentence(text: string): boolean {
  return /[.!?…。！？؟]["'”’)\]]*$/u.test(text) && !/^(?:mr|mrs|ms|dr|st|vs|jr|sr|prof)\.$/i.test(text);
}

function meanConfidence(words: readonly ClipWord[]): number {
  return words.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, words.length);
}
