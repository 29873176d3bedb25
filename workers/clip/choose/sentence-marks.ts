import {
  backPointers,
  bareWord,
  businessWords,
  closingPhrases,
  commonVerbs,
  connectives,
  fillers,
  fragments,
  functionWords,
  gamingWords,
  isNumber,
  openingPhrases,
  replies,
  strongWords,
} from './english-words.ts';
import type { Sentence } from './transcript.ts';

/** What a sentence is good for, each 0 to 1. */
export type SentenceMarks = {
  /** As the first of a clip: it needs nothing that was said before. */
  readonly standalone: number;
  /** As the last of a clip: a thought is finished. */
  readonly payoff: number;
  /** It makes one want to hear the rest. */
  readonly hook: number;
  /** Words of strong feeling. */
  readonly emotion: number;
  /** Numbers, names and claims. */
  readonly facts: number;
  /** Words that are shouted over a game. */
  readonly play: number;
};

/** A pause this long ends a thought as surely as any. */
const fullPauseMs = 900;

/** Judges a sentence by its words and the pauses around it; `last` and `next` are its neighbours on the same topic. Pure. */
export function markSentence(
  sentence: Sentence,
  last: Sentence | undefined,
  next: Sentence | undefined,
): SentenceMarks {
  const bare = sentence.words.map((word) => bareWord(word.text)).filter((word) => word !== '');
  return {
    standalone: standalone(sentence, bare, last),
    payoff: payoff(sentence, bare, next),
    hook: hookStrength(sentence, bare),
    emotion: share(bare, (word) => strongWords.has(word), 0.12, /!/.test(sentence.text) ? 0.3 : 0),
    facts: share(
      bare,
      (word) => isNumber(word) || businessWords.has(word),
      0.15,
      namedThings(sentence) * 0.15,
    ),
    play: share(bare, (word) => gamingWords.has(word), 0.2, /!/.test(sentence.text) ? 0.3 : 0),
  };
}

function standalone(sentence: Sentence, bare: readonly string[], last: Sentence | undefined): number {
  const [first = '', second = ''] = bare;
  let mark = 1;
  if (connectives.has(first)) mark -= first === 'so' || first === 'and' ? 0.35 : 0.45;
  if (replies.has(first)) mark -= first === 'well' || first === 'hello' || first === 'hi' ? 0.1 : 0.5;
  if (fragments.has(first)) mark -= 0.25;
  const subject = connectives.has(first) || fillers.has(first) ? second : first;
  if (backPointers.has(subject)) mark -= 0.35;
  if (/^\p{Ll}/u.test(sentence.text)) mark -= 0.3;
  // What follows a question that the clip does not show is its answer.
  if (last?.text.endsWith('?') === true && sentence.gapBeforeMs < 2_500) mark -= 0.4;
  if (continues(sentence, last)) mark -= 0.4;
  if (bare.length <= 2) mark -= 0.3;
  if (sentence.confidence < 0.7) mark -= 0.15;
  return clamp01(mark * (0.75 + 0.25 * pauseMark(sentence.gapBeforeMs)));
}

/** The recogniser puts a full stop where its piece of sound ends: what goes on at once, in the same breath, is no start. */
function continues(sentence: Sentence, last: Sentence | undefined): boolean {
  if (last === undefined || sentence.gapBeforeMs > 600) return false;
  return !last.isClosed || isHalfSentence(last);
}

/** A subordinate clause without its main one: `So when you look at this picture.` Pure. */
export function isHalfSentence(sentence: Sentence): boolean {
  const bare = sentence.words.map((word) => bareWord(word.text));
  const opening = fillers.has(bare[0] ?? '') || bare[0] === 'for' || bare[0] === 'and' ? bare[1] : bare[0];
  const subordinate =
    /^(?:when|if|although|though|while|because|as|since|unless|until|whenever|once|that|from|after|before)$/;
  const last = sentence.words.at(-1)?.text ?? '';
  const isSubordinate = subordinate.test(opening ?? '') && !/,/.test(sentence.text);
  return isSubordinate || endsOpen(bareWord(last)) || breaksOff(sentence, bare);
}

/** `…, and it was a matter of course that in the Middle Ages.`: a last clause without a verb, and hardly a pause. */
function breaksOff(sentence: Sentence, bare: readonly string[]): boolean {
  if (sentence.gapAfterMs > 500) return false;
  const opens = bare.findLastIndex((word) =>
    /^(?:that|which|who|when|where|because|if|although)$/.test(word),
  );
  const tail = bare.slice(opens + 1);
  if (opens < 3 || !/^(?:in|on|at|by|with|from|to|of|for)$/.test(tail[0] ?? '')) return false;
  return !tail.some((word) => commonVerbs.has(word) || /[^e]ed$/.test(word));
}

/** Whether a bare word asks for more after it. Pure. */
export function endsOpen(lastWord: string): boolean {
  return /^(?:the|a|an|of|to|and|or|but|with|for|in|on|at|by|from|my|your|our|their|his|its|very|is|are|was|were|that|which|therefore)$/.test(
    lastWord,
  );
}

function payoff(sentence: Sentence, bare: readonly string[], next: Sentence | undefined): number {
  let mark = sentence.isClosed ? 0.4 : 0.05;
  if (closingPhrases.test(sentence.text)) mark += 0.25;
  if (sentence.text.endsWith('?')) mark -= 0.3;
  if (isHalfSentence(sentence)) mark -= 0.35;
  if (next !== undefined && goesOnWith(next)) mark -= 0.25;
  if (bare.length <= 2) mark -= 0.2;
  if (bare.length >= 6) mark += 0.1;
  return clamp01(mark + 0.5 * pauseMark(sentence.gapAfterMs));
}

/** A sentence that only makes sense after the one before it, which therefore did not end there. */
function goesOnWith(next: Sentence): boolean {
  const [first = '', second = ''] = next.words.slice(0, 2).map((word) => bareWord(word.text));
  const dependent = /^(?:that|which|who|whose|because|than|when)$/;
  const isAdded = first === 'and' && (dependent.test(second) || fragments.has(second));
  return (
    next.gapBeforeMs < 600 && (first === 'or' || dependent.test(first) || fragments.has(first) || isAdded)
  );
}

function hookStrength(sentence: Sentence, bare: readonly string[]): number {
  let mark = 0.15;
  if (openingPhrases.test(sentence.text)) mark += 0.3;
  if (sentence.text.endsWith('?')) mark += 0.25;
  if (bare.some(isNumber)) mark += 0.15;
  if (bare.some((word) => word === 'you' || word === 'your')) mark += 0.1;
  if (bare.some((word) => /^(?:not|never|no|don't|can't|won't|isn't)$/.test(word))) mark += 0.1;
  mark += share(bare, (word) => strongWords.has(word), 0.15, 0) * 0.25;
  if (bare.length < 4) mark -= 0.2;
  if (bare.length > 22) mark -= 0.15;
  if (backPointers.has(bare[0] ?? '') || replies.has(bare[0] ?? '')) mark -= 0.15;
  if (isHalfSentence(sentence)) mark -= 0.15;
  return clamp01(mark * (sentence.confidence < 0.7 ? 0.6 : 1));
}

/** How much of the words are such, 1 where `full` of them are; plus what is added. */
function share(
  bare: readonly string[],
  isSuch: (word: string) => boolean,
  full: number,
  added: number,
): number {
  return clamp01(bare.filter(isSuch).length / Math.max(4, bare.length) / full + added);
}

/** Capitalised words inside the sentence: names, mostly. */
function namedThings(sentence: Sentence): number {
  return sentence.words
    .slice(1)
    .filter(({ text }) => /^\p{Lu}\p{Ll}+/u.test(text) && !functionWords.has(bareWord(text))).length;
}

function pauseMark(gapMs: number): number {
  return clamp01(gapMs / fullPauseMs);
}

function clamp01(value: number): number {
  return Math.min(1, Math.max(0, value));
}
