import type { SpokenWord } from '../../media/analysis/analysis-schema.ts';
import { backPointers, bareWord, commonVerbs, fillers, functionWords, isNumber } from './english-words.ts';
import type { Sentence } from './transcript.ts';

/** A run of a sentence's words that could be a headline. */
export type HeadlineRun = {
  /** A whole sentence, a clause with its subject and verb, or a noun phrase. */
  readonly kind: 'sentence' | 'clause' | 'phrase';
  /** As they were recognised, trimmed of what a headline does without. */
  readonly words: readonly string[];
  readonly bare: readonly string[];
  /** Number of its sentence in the clip. */
  readonly sentence: number;
};

const fewestWords = 3;
const mostWords = 10;
/** A word that was recognised worse than this does not stand in a headline; one that carries the sense, even less so. */
const leastConfidence = 0.5;
const leastContentConfidence = 0.62;
const leastMeanConfidence = 0.76;

/** Openings that only announce what is said: `I think that …`, `it is worth mention in passing that …`. */
const announcing =
  /^(?:(?:and|so|but|well|now)\s+)?(?:i (?:think|mean|guess|believe|feel|know|would say)|you know|we know|as you know|it is worth [\w ]{3,30}?|it'?s (?:clear|important|true|funny)|the (?:thing|fact|point|truth|problem|idea) is|there'?s no doubt|let me tell you|what i mean is|i want to (?:say|talk about))(?:,?\s+that\b|,|\s)\s*/i;

/** What cannot end a headline: it asks for more. */
const openEnds =
  /^(?:a|an|the|my|your|our|their|his|her|its|this|that|these|those|of|to|in|on|at|by|for|from|with|without|into|than|as|and|or|but|nor|so|if|when|while|because|which|who|whose|what|where|how|very|more|most|such|is|are|was|were|be|been|am|has|have|had|do|does|did|will|would|shall|should|can|could|may|might|must|not|about|between|like|i|we|they|he|she|you|just|only|also|too|it's|i'm|we're|they're|there|both|every|each|some|any|no|therefore|ever|different)$/;

/** What clauses are parted before, and what then needs a subject of its own. */
const joiners =
  /^(?:and|but|because|which|who|whose|when|while|where|so|or|although|though|if|unless|until|that|as|especially)$/;
const listing = /^(?:and|or|but)$/;
const dependent =
  /^(?:because|which|who|whose|when|while|where|although|though|if|unless|until|that|as|especially)$/;
const determiners =
  /^(?:the|a|an|my|your|our|their|his|her|every|each|no|all|most|many|some|this|these|one|how|why|what)$/;
const subjects =
  /^(?:i|you|he|she|we|they|it|nobody|everybody|everyone|someone|people|nothing|everything|there|i'm|you're|we're|they're|i've|you've|we've)$/;
const prepositions =
  /^(?:of|in|on|at|by|for|from|with|to|into|than|about|through|over|under|between|upon|without)$/;
const orders =
  /^(?:ask|look|imagine|stop|think|remember|forget|never|don't|try|keep|let|make|take|go|come|get|give|find|use|start|tell|say|believe|learn|build|buy|choose|help|call|read|write|hear|listen|leave|open|play|watch)$/;
const abbreviation = /^(?:mr|mrs|ms|dr|st|vs|jr|sr|prof|gen|[a-z])\.$/i;

/** All headlines of three to ten well-heard words that a clip's sentences hold, broken ones left out. Pure. */
export function headlineRuns(sentences: readonly Sentence[]): readonly HeadlineRun[] {
  return sentences.flatMap((sentence, number) => {
    const found = new Map<string, HeadlineRun>();
    for (const range of possibleRanges(sentence)) {
      const run = headlineRun(sentence, number, range);
      const key = run?.bare.join(' ') ?? '';
      if (run !== null && !found.has(key)) found.set(key, run);
    }
    return [...found.values()];
  });
}

/** Words `from` up to, not with, `to`. */
type WordRange = { readonly from: number; readonly to: number; readonly kind: 'clause' | 'phrase' };

function possibleRanges({ words }: Sentence): readonly WordRange[] {
  const bare = words.map((word) => bareWord(word.text));
  const bounds = clauseBounds(words);
  const clauses = bounds.flatMap((from, order) =>
    bounds
      .slice(order + 1)
      .flatMap((to) => (to - from <= 2 * mostWords ? [{ from, to, kind: 'clause' as const }] : [])),
  );
  const phrases = bare.flatMap((_, from) => {
    if (!startsPhrase(bare, from)) return [];
    const tos = Array.from(
      { length: mostWords - fewestWords + 1 },
      (_each, more) => from + fewestWords + more,
    );
    return tos
      .filter((to) => endsPhrase(words, bare, to))
      .map((to) => ({ from, to, kind: 'phrase' as const }));
  });
  return [...clauses, ...phrases];
}

/** Numbers of the words that clauses begin with, and one beyond the last. */
function clauseBounds(words: readonly SpokenWord[]): readonly number[] {
  const inner = words.flatMap((word, at) => {
    const last = words[at - 1]?.text;
    if (last === undefined) return [];
    const stops = /[,;:.?!–—]$/.test(last) && !abbreviation.test(last);
    return stops || joiners.test(bareWord(word.text)) ? [at] : [];
  });
  return [0, ...inner, words.length];
}

function startsPhrase(bare: readonly string[], at: number): boolean {
  const [last = '', word = '', next = ''] = [bare[at - 1], bare[at], bare[at + 1]];
  if (determiners.test(last) || listing.test(next)) return false;
  if (determiners.test(word)) return !backPointers.has(word);
  const isFree =
    at === 0 || (at === 1 && fillers.has(last)) || commonVerbs.has(last) || prepositions.test(last);
  return isFree && !functionWords.has(word) && !commonVerbs.has(word) && /^.{2,}(?<!ed|ing|ly)$/.test(word);
}

function endsPhrase(words: readonly SpokenWord[], bare: readonly string[], to: number): boolean {
  if (to > words.length) return false;
  const next = bare[to] ?? '';
  const last = words[to - 1]?.text ?? '';
  return (
    to === words.length ||
    /[,;:.?!–—]$/.test(last) ||
    prepositions.test(next) ||
    commonVerbs.has(next) ||
    joiners.test(next)
  );
}

function headlineRun(sentence: Sentence, number: number, range: WordRange): HeadlineRun | null {
  const bare = sentence.words.map((word) => bareWord(word.text));
  const trimmed = range.kind === 'clause' ? trimmedRange(sentence, bare, range) : range;
  const words = sentence.words.slice(trimmed.from, trimmed.to);
  const own = bare.slice(trimmed.from, trimmed.to);
  if (words.length < fewestWords || words.length > mostWords) return null;
  if (!isWellHeard(words, own) || openEnds.test(own.at(-1) ?? '')) return null;
  if (own.filter((word) => !functionWords.has(word) && word.length > 2).length < 2) return null;
  const kind = kindOf(sentence, bare, trimmed);
  return kind === null ? null : { kind, words: words.map((word) => word.text), bare: own, sentence: number };
}

function isWellHeard(words: readonly SpokenWord[], bare: readonly string[]): boolean {
  const mean = words.reduce((sum, word) => sum + word.confidence, 0) / words.length;
  const least = (at: number): number =>
    functionWords.has(bare[at] ?? '') ? leastConfidence : leastContentConfidence;
  return mean >= leastMeanConfidence && words.every((word, at) => word.confidence >= least(at));
}

function trimmedRange(sentence: Sentence, bare: readonly string[], range: WordRange): WordRange {
  let from = range.from + announcedWords(sentence, range);
  while (from < range.to && fillers.has(bare[from] ?? '') && !/^(?:look|listen)$/.test(bare[from] ?? ''))
    from += 1;
  return { ...range, from };
}

/** What a run is when it is read alone; null when it is a piece of something. */
function kindOf(
  sentence: Sentence,
  bare: readonly string[],
  { from, to, kind }: WordRange,
): HeadlineRun['kind'] | null {
  const own = bare.slice(from, to);
  const first = own[0] ?? '';
  if (kind === 'phrase') return isNounPhrase(sentence.words.slice(from, to), own) ? 'phrase' : null;
  // A piece that the recogniser or a cut broke off has no end.
  if (to === sentence.words.length && !sentence.isClosed) return null;
  const startsSentence = bare.slice(0, from).every((word) => fillers.has(word));
  if (startsSentence && to === sentence.words.length)
    return dependent.test(first) && first !== 'when' ? null : 'sentence';
  if (dependent.test(first) || prepositions.test(first)) return null;
  const at = own.findIndex((word) => commonVerbs.has(word) || /(?:[^e]ed|n't)$/.test(word));
  const hasSubject = at > 0 || subjects.test(first) || /(?:'s|'re|'m|'ve|'ll)$/.test(first);
  const isNamed = /^\p{Lu}/u.test(sentence.words[from]?.text ?? '');
  const startsNoun = determiners.test(first) || subjects.test(first) || isNumber(first) || isNamed;
  if (startsSentence || isOrder(sentence, own, { from, to })) return hasSubject || at === 0 ? 'clause' : null;
  return hasSubject && startsNoun ? 'clause' : null;
}

/** `…, ask what you can do for your country.`: after a comma, to the sentence's end. */
function isOrder(
  sentence: Sentence,
  own: readonly string[],
  { from, to }: Pick<WordRange, 'from' | 'to'>,
): boolean {
  const afterComma = /[,;:]$/.test(sentence.words[from - 1]?.text ?? '');
  return afterComma && to === sentence.words.length && orders.test(own[0] ?? '');
}

function isNounPhrase(words: readonly SpokenWord[], own: readonly string[]): boolean {
  if (own.some((word) => commonVerbs.has(word) || dependent.test(word) || subjects.test(word))) return false;
  if (words.slice(0, -1).some((word) => /[,;:]$/.test(word.text))) return false;
  // `Google to invest`, `a model by comparing`: something is done there, whatever the verb.
  const acts = own.some((word, at) => prepositions.test(word) && isAction(word, own[at + 1] ?? ''));
  if (acts) return false;
  const than = own.indexOf('than');
  if (than >= 0 && !own.slice(0, than).some((word) => /^(?:more|less|fewer|rather)$/.test(word)))
    return false;
  return !own.some((word) => backPointers.has(word));
}

function isAction(preposition: string, next: string): boolean {
  return next.endsWith('ing') || (preposition === 'to' && !determiners.test(next));
}

/** How many words only announce the rest. */
function announcedWords(sentence: Sentence, { from, to }: WordRange): number {
  const text = sentence.words
    .slice(from, to)
    .map((word) => word.text)
    .join(' ');
  const announced = announcing.exec(text)?.[0].trim() ?? '';
  return announced === '' ? 0 : announced.split(/\s+/).length;
}
