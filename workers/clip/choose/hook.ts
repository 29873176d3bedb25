import type { SpokenWord } from '../../media/analysis/analysis-schema.ts';
import type { Span } from '../../media/speech/utterances.ts';
import type { Candidate, JudgedSource } from './candidates.ts';
import type { Cut, Hook } from './chosen-clip.ts';
import type { Edge } from './clip-edges.ts';
import { bareWord } from './english-words.ts';
import { endsOpen, markSentence } from './sentence-marks.ts';
import type { Sentence } from './transcript.ts';

/** How a clip opens: what plays, in which order, and which part of it is the hook. */
export type OpenedClip = {
  readonly cuts: readonly Cut[];
  readonly hook: Hook | null;
  readonly notes: readonly string[];
};

export type HookWish = {
  /** Asked for; null: as the material asks. */
  readonly hookMs: number | null;
  /** What the whole clip, teaser included, should come near; null: at most `maxMs`. */
  readonly lengthMs: number | null;
  readonly maxMs: number;
  /**
   * Number of the sentence that a language model would have heard first, null where it finds the beginning strong
   * enough; undefined where our own rules judge.
   */
  readonly strongest?: number | null | undefined;
};

/** Without a wish a teaser is no longer than this, and must be this much stronger than the opening. */
const freeTeaserMs = 6_000;
const clearlyStronger = 0.25;
const strongTeaser = 0.5;
/** With a wish the strongest words go first, unless the opening is as good as they are. */
const asGood = 0.05;
/** Weaker words make nobody curious: then the clip's own beginning is as good a hook. */
const worthTeasing = 0.3;
/** Shorter than this nobody understands what he hears. */
const shortestTeaserMs = 1_200;
const fewestTeaserWords = 3;
/** A clip of less than this is over before a teaser pays. */
const shortestWithTeaserMs = 15_000;
/** Words of a long sentence may go alone between pauses like these. */
const innerPauseMs = 250;
const commaPauseMs = 120;
const leadMs = 200;
const tailMs = 300;

/** A run of words that can be heard alone. */
type Phrase = Span & { readonly strength: number };

/**
 * Decides how a clip opens. With `hook_length` its strongest words that fit go first as a teaser, and the clip
 * then plays whole; where it already begins with them, they are the opening, held to that length. Without
 * `hook_length` the opening is the hook, and a teaser goes first only where it is clearly stronger. Pure.
 */
export function openClip(
  clip: Candidate,
  source: JudgedSource,
  ends: readonly Edge[],
  wish: HookWish,
): OpenedClip {
  const whole: Cut = { start_ms: clip.startMs, end_ms: clip.endMs };
  const sentences = source.sentences.slice(clip.firstSentence, clip.endSentence);
  if (sentences.length === 0) return withoutWords(whole, wish);
  const mostMs = wish.hookMs ?? freeTeaserMs;
  const phrases = sentences.flatMap((sentence, at) =>
    phrasesOf(sentence, sentences[at - 1], mostMs, source).filter(
      (phrase) => phrase.startMs >= clip.startMs && phrase.endMs <= clip.endMs,
    ),
  );
  const opening = openingStrength(clip, sentences, phrases, source, wish);
  const later = phrases.filter((phrase) => phrase.startMs >= clip.startMs + mostMs);
  const teaser = strongestOf(advisedPhrases(later, source, wish));
  if (teaser === null || !teases(teaser, opening, clip, wish)) {
    return { cuts: [whole], hook: openingHook(clip, sentences, phrases, wish), notes: [] };
  }
  const main = fitted(clip, teaser, ends, wish);
  if (main === null) return { cuts: [whole], hook: openingHook(clip, sentences, phrases, wish), notes: [] };
  const first: Cut = { start_ms: teaser.startMs, end_ms: teaser.endMs };
  const hook: Hook = { kind: 'teaser', length_ms: teaser.endMs - teaser.startMs };
  return { cuts: [first, main], hook, notes: [] };
}

function strongestOf(phrases: readonly Phrase[]): Phrase | null {
  return phrases.reduce<Phrase | null>(
    (best, each) => (best === null || each.strength > best.strength ? each : best),
    null,
  );
}

/** What a language model would put first is stronger than all else, and nothing is where it wants no teaser. */
function advisedPhrases(phrases: readonly Phrase[], source: JudgedSource, wish: HookWish): readonly Phrase[] {
  if (wish.strongest === undefined) return phrases;
  const sentence = wish.strongest === null ? undefined : source.sentences[wish.strongest];
  if (sentence === undefined) return [];
  return phrases
    .filter(
      (phrase) => phrase.startMs >= sentence.startMs - leadMs && phrase.endMs <= sentence.endMs + tailMs,
    )
    .map((phrase) => ({ ...phrase, strength: phrase.strength + 1 }));
}

/** Nothing understood: the clip's own first seconds are all the hook there is. */
function withoutWords(whole: Cut, { hookMs }: HookWish): OpenedClip {
  if (hookMs === null) return { cuts: [whole], hook: null, notes: [] };
  const note = 'No words were understood in this clip: its hook is its own beginning.';
  const lengthMs = Math.min(hookMs, whole.end_ms - whole.start_ms);
  return { cuts: [whole], hook: { kind: 'opening', length_ms: lengthMs }, notes: [note] };
}

function teases(teaser: Phrase, openingStrength: number, clip: Candidate, wish: HookWish): boolean {
  if (clip.endMs - clip.startMs < shortestWithTeaserMs && wish.hookMs === null) return false;
  if (wish.hookMs !== null)
    return teaser.strength >= worthTeasing && teaser.strength > openingStrength + asGood;
  return teaser.strength >= strongTeaser && teaser.strength >= openingStrength + clearlyStronger;
}

/** How strong the clip's own beginning is: the strongest phrase in it that fits, or without a wish its first sentence. */
function openingStrength(
  clip: Candidate,
  sentences: readonly Sentence[],
  phrases: readonly Phrase[],
  source: JudgedSource,
  wish: HookWish,
): number {
  const [first] = sentences;
  if (first === undefined) return 0;
  const run = { from: 0, to: first.words.length };
  const isFree = wish.hookMs === null;
  const whole = isFree ? strengthOf(first, run, undefined, first, first.endMs - first.startMs, source) : 0;
  const early = phrases.filter((phrase) => phrase.startMs <= clip.startMs + leadMs + tailMs);
  return Math.max(whole, ...early.map((phrase) => phrase.strength));
}

/** How much of the clip's beginning is its hook: whole phrases, no more than was asked for. */
function openingHook(
  clip: Candidate,
  sentences: readonly Sentence[],
  phrases: readonly Phrase[],
  wish: HookWish,
): Hook {
  const lengthMs = clip.endMs - clip.startMs;
  if (wish.hookMs === null) {
    const firstMs = (sentences[0]?.endMs ?? clip.endMs) - clip.startMs;
    return { kind: 'opening', length_ms: Math.min(firstMs, 2 * freeTeaserMs, lengthMs) };
  }
  const limit = clip.startMs + wish.hookMs;
  const fitting = phrases
    .filter((phrase) => phrase.endMs <= limit)
    .map((phrase) => phrase.endMs - clip.startMs);
  const longest = Math.max(0, ...fitting);
  return {
    kind: 'opening',
    length_ms: longest >= shortestTeaserMs ? longest : Math.min(wish.hookMs, lengthMs),
  };
}

/** The runs of a sentence's words between pauses that last no longer than `mostMs`, and how strong each is. */
function phrasesOf(
  sentence: Sentence,
  last: Sentence | undefined,
  mostMs: number,
  source: JudgedSource,
): readonly Phrase[] {
  const breaks = innerBreaks(sentence.words);
  const phrases: Phrase[] = [];
  for (const [order, from] of breaks.entries()) {
    for (const to of breaks.slice(order + 1)) {
      const span = spanOf(sentence, from, to);
      if (span.endMs - span.startMs > mostMs) break;
      // Words that run into their neighbours cannot be cut free of them.
      if (from === 0 && sentence.gapBeforeMs < 0) continue;
      if (to === sentence.words.length && sentence.gapAfterMs < 0) continue;
      if (breaksOff(sentence, to)) continue;
      if (to - from < fewestTeaserWords || span.endMs - span.startMs < shortestTeaserMs) continue;
      phrases.push({ ...span, strength: strengthOf(sentence, { from, to }, last, span, mostMs, source) });
    }
  }
  return phrases;
}

/** Words that wait for more are no teaser: an unfinished sentence's, or such as end on `the`. */
function breaksOff(sentence: Sentence, to: number): boolean {
  const isEnd = to === sentence.words.length;
  return (isEnd && !sentence.isClosed) || endsOpen(bareWord(sentence.words[to - 1]?.text ?? ''));
}

/** Numbers of the words before which a listener hears a break; the first and one beyond the last among them. */
function innerBreaks(words: readonly SpokenWord[]): readonly number[] {
  const inner = words.flatMap((word, at) => {
    const last = words[at - 1];
    if (last === undefined) return [];
    const gapMs = word.start_ms - last.end_ms;
    return gapMs >= innerPauseMs || (gapMs >= commaPauseMs && /[,;:.?!]$/.test(last.text)) ? [at] : [];
  });
  return [0, ...inner, words.length];
}

function spanOf(sentence: Sentence, from: number, to: number): Span {
  const { words } = sentence;
  const first = words[from];
  const last = words[to - 1];
  const before = from === 0 ? sentence.gapBeforeMs : (first?.start_ms ?? 0) - (words[from - 1]?.end_ms ?? 0);
  const after = to === words.length ? sentence.gapAfterMs : (words[to]?.start_ms ?? 0) - (last?.end_ms ?? 0);
  const lead = Math.min(leadMs, Math.max(0, before) / 2);
  const tail = Math.min(tailMs, Math.max(0, after) / 2);
  return {
    startMs: Math.round((first?.start_ms ?? sentence.startMs) - lead),
    endMs: Math.round((last?.end_ms ?? sentence.endMs) + tail),
  };
}

type WordRun = { readonly from: number; readonly to: number };

function strengthOf(
  sentence: Sentence,
  { from, to }: WordRun,
  last: Sentence | undefined,
  span: Span,
  mostMs: number,
  { curves }: JudgedSource,
): number {
  const words = sentence.words.slice(from, to);
  const part: Sentence = {
    ...sentence,
    words,
    text: words.map((word) => word.text).join(' '),
    isClosed: sentence.isClosed && to === sentence.words.length,
  };
  const marks = markSentence(part, from === 0 ? last : undefined, undefined);
  const isWhole = words.length === sentence.words.length;
  const startsInside = from > 0 ? 0.1 : 0;
  const fills = Math.min(1, (span.endMs - span.startMs) / mostMs);
  const level = curves.level.mean(span);
  return (
    0.55 * marks.hook +
    0.2 * marks.emotion +
    0.1 * marks.payoff +
    0.1 * level +
    0.1 * fills +
    (isWhole ? 0.15 : 0) -
    startsInside
  );
}

/** The clip without so much at its end that it comes near its length with the teaser in front; null: not possible. */
function fitted(clip: Candidate, teaser: Phrase, ends: readonly Edge[], wish: HookWish): Cut | null {
  const teaserMs = teaser.endMs - teaser.startMs;
  const whole: Cut = { start_ms: clip.startMs, end_ms: clip.endMs };
  const target = wish.lengthMs ?? wish.maxMs;
  const fits = (endMs: number): boolean => endMs - clip.startMs + teaserMs <= wish.maxMs;
  const farOff = (endMs: number): number => Math.abs(endMs - clip.startMs + teaserMs - target) / target;
  if (wish.lengthMs === null && fits(clip.endMs)) return whole;
  const possible = ends.filter((end) => end.atMs >= teaser.endMs && end.atMs <= clip.endMs && fits(end.atMs));
  const worth = (end: Edge): number => end.quality * 0.3 - farOff(end.atMs);
  const best = possible.reduce<Edge | null>(
    (found, each) => (found === null || worth(each) > worth(found) ? each : found),
    null,
  );
  if (best === null || (best.atMs - clip.startMs) * 2 < target) return null;
  return { start_ms: clip.startMs, end_ms: best.atMs };
}
