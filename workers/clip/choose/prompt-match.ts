import { similarity } from '../../media/text/sentence-embedder.ts';
import { bareWord, functionWords, stem } from './english-words.ts';
import { newTopic } from './topic-boundaries.ts';
import type { Sentence } from './transcript.ts';

/** What a prompt asks for, as texts that can be compared with sentences. */
export type PromptTexts = {
  /** The prompt without its words of command, and its parts where it names several things. */
  readonly wanted: readonly string[];
  /** What it asks to leave out. */
  readonly unwanted: readonly string[];
  /** `part 2` of a topic, from 1; null where no part is named. */
  readonly part: number | null;
  /** It asks for two people at once, which is seen and not said. */
  readonly wantsPair: boolean;
};

/** How well each sentence answers a prompt. */
export type PromptMatch = {
  /** 0 to 1 for each sentence, 1 where the source answers best. */
  readonly relevance: readonly number[];
  /** Whether anything in the source is about what was asked for. */
  readonly matches: 'clearly' | 'nearest' | 'none';
};

/** Likeness to these is what a sentence has with any prompt whatever, and does not count. */
export const anyPromptTexts: readonly string[] = [
  'a video',
  'something interesting',
  'the best moment',
  'a person is talking',
  'an important point',
  'somebody tells a story',
  'what happens next',
  'a question and its answer',
  'the beginning',
  'people at work',
  'numbers and facts',
  'a funny thing',
];

/** Of a prompt no more is read than a person would write, and no more things in it. */
const mostPromptLength = 4_000;
const mostPromptParts = 12;
/** Measured on prompts that match a programme and on such that do not: unrelated ones stay below. */
const leastLikeness = 0.24;
/** Where the prompt's own words are said, less likeness will do. */
const leastLikenessWithWord = 0.17;
/** Less than this is no answer, not even the nearest one. */
const nearestLikeness = 0.12;
/** A prompt as near as this to what could be said of any video names no topic: `the best moments`. */
const namesNoTopic = 0.55;
/** What a sentence gains by the prompt's own words. */
const wordGain = 0.12;
/** What a stretch with two faces gains where a pair is asked for. */
const pairGain = 0.4;

const commandWords =
  /^(?:(?:please|can you|could you|i (?:want|need|would like)(?: you)?(?: to)?|find|make|create|give me|show(?: me)?|get|pick|choose|select|cut|clip|extract|look for|focus(?:ing)? (?:only )?on|concentrate on|highlight|include|use|take|only|just|some|all|any|a|an|the|me|us|\d+|one|two|three|few|best|good|great|most)\s+)*(?:(?:clips?|moments?|parts?|segments?|scenes?|sections?|highlights?|shorts?|bits?|passages?|places?|sentences?|quotes?|topics?|stuff|things?|everything|anything)\s+)?(?:(?:where|when|in which|that|which|who)\s+(?:(?:they|he|she|we|people|the (?:speaker|host|narrator|person|guest)s?|someone|somebody|it)\s+(?:is|are|was|were)?\s*)?(?:(?:talk|speak|discuss|mention|explain|describe|say|deal)(?:s|ed|ing)?\s+)?)?(?:(?:about|on|of|from|with|regarding|concerning|around)\s+)?/i;

const leavingOut =
  /^(?:but\s+|and\s+)?(?:do not|don'?t|avoid|skip|exclude|without|except|leave out|not|no)\s+(?:include|use|show|take|about|any|the\s+)?\s*/i;

const pair =
  /\b(?:two|both|2)[ -]?(?:people|persons?|speakers?|faces|hosts|men|women|guests)\b|\bsplit[ -]?screen\b|\bside by side\b/i;

/** Takes a prompt apart; commands such as a length or a number are not followed, and read as if they were a topic. Pure. */
export function promptTexts(prompt: string): PromptTexts {
  const clauses = prompt
    .slice(0, mostPromptLength)
    .split(/[.;!?\n]+|,\s+(?=(?:but|and|not|no|avoid|skip|without|do not|don'?t)\b)/i)
    .map((clause) => clause.trim())
    .filter((clause) => /\p{L}{2}/u.test(clause));
  const unwanted = clauses
    .filter((clause) => leavingOut.test(clause))
    .map((clause) => clause.replace(leavingOut, ''));
  const asked = clauses.filter((clause) => !leavingOut.test(clause)).map(withoutCommand);
  const whole = asked.join('. ');
  const parts = asked.flatMap(namedThings);
  return {
    wanted: [...new Set([whole, ...parts])].filter((text) => text !== '').slice(0, mostPromptParts),
    unwanted: unwanted.filter((text) => text !== '').slice(0, mostPromptParts),
    part: namedPart(prompt),
    wantsPair: pair.test(prompt),
  };
}

function namedPart(prompt: string): number | null {
  const digits = /\bparts?\s+(\d)\b/i.exec(prompt)?.[1];
  if (digits !== undefined) return Number(digits);
  const named = /\b(first|second|third)\s+part\b|\bpart\s+(one|two|three)\b/i.exec(prompt);
  const word = (named?.[1] ?? named?.[2] ?? '').toLowerCase();
  const place = ['first', 'second', 'third'].indexOf(word) + ['one', 'two', 'three'].indexOf(word) + 2;
  return named === null ? null : place;
}

function withoutCommand(clause: string): string {
  const topic = clause.replace(commandWords, '').trim();
  return contentStems(topic).length === 0 ? clause : topic;
}

/** The things of a list, each of at least two words that say something. */
function namedThings(clause: string): readonly string[] {
  const parts = clause.split(/,|;|\bor\b|\band\b/i).map((part) => part.trim());
  return parts.length > 1 && parts.every((part) => contentStems(part).length >= 2) ? parts : [clause];
}

export type PromptVectors = {
  readonly wanted: readonly Float32Array[];
  readonly unwanted: readonly Float32Array[];
  readonly anyPrompt: readonly Float32Array[];
};

/**
 * Compares each sentence, alone and with its neighbours of the same topic, with a prompt. `pairShare` says how
 * much of a sentence two faces are seen. Linear in the sentences. Pure.
 */
export function matchPrompt(
  texts: PromptTexts,
  vectors: PromptVectors,
  spoken: {
    readonly sentences: readonly Sentence[];
    readonly vectors: readonly Float32Array[];
    readonly topics: readonly number[];
    readonly pairShare: (sentence: Sentence) => number;
  },
): PromptMatch {
  const contexts = withNeighbours(spoken.vectors, spoken.topics);
  const words = promptWordShares(texts.wanted.join(' '), spoken.sentences);
  const anyPrompt = meanVector(vectors.anyPrompt);
  const scored = spoken.sentences.map((sentence, at) => {
    const [own, context] = [spoken.vectors[at], contexts[at]];
    if (own === undefined || context === undefined) return { likeness: 0, total: 0, hasWord: false };
    const to = (vector: Float32Array): number => (similarity(own, vector) + similarity(context, vector)) / 2;
    const common = to(anyPrompt);
    const wanted = Math.max(0, ...vectors.wanted.map(to));
    const unwanted = Math.max(0, ...vectors.unwanted.map(to));
    const isUnwanted = unwanted >= leastLikeness && unwanted >= wanted;
    const likeness = isUnwanted ? -unwanted : wanted - common / 2;
    const wordShare = words[at] ?? 0;
    const paired = texts.wantsPair ? pairGain * spoken.pairShare(sentence) : 0;
    return {
      likeness: likeness + paired,
      total: likeness + common / 4 + wordGain * wordShare + paired,
      hasWord: wordShare > 0,
    };
  });
  const best = Math.max(0, ...scored.map(({ total }) => total));
  const isClear = scored.some(
    ({ likeness, hasWord }) => likeness >= (hasWord ? leastLikenessWithWord : leastLikeness),
  );
  const isNear = scored.some(({ likeness }) => likeness >= nearestLikeness);
  const isGeneral = vectors.wanted.every((wanted) =>
    vectors.anyPrompt.some((any) => similarity(wanted, any) >= namesNoTopic),
  );
  const matches = isClear && !isGeneral ? 'clearly' : isNear && !isGeneral ? 'nearest' : 'none';
  // What is half as good as the best still answers; what is far below it does not.
  const floor = best * 0.35;
  const relevance = scored.map(({ total }) => clamp01((total - floor) / Math.max(1e-6, best - floor)));
  return { relevance: onlyPart(texts.part, relevance, spoken.sentences), matches };
}

/** The likeness to a mean is the mean of the likenesses. */
function meanVector(vectors: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0)] = vectors;
  return first.map((_, at) => vectors.reduce((sum, vector) => sum + (vector[at] ?? 0), 0) / vectors.length);
}

/** Relevant passages this far apart are parts of their own. */
const partsApartMs = 30_000;

/** Of several passages on the topic only the one that was named counts whole. */
function onlyPart(
  part: number | null,
  relevance: readonly number[],
  sentences: readonly Sentence[],
): readonly number[] {
  if (part === null) return relevance;
  let passage = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  const passages = relevance.map((value, at) => {
    const sentence = sentences[at];
    if (value < 0.4 || sentence === undefined) return passage;
    if (sentence.startMs - lastMs > partsApartMs) passage += 1;
    lastMs = sentence.endMs;
    return passage;
  });
  if (passage < part) return relevance;
  return relevance.map((value, at) => (passages[at] === part ? value : value / 3));
}

/** Each sentence's vector with those beside it, as far as they are on the same topic. */
function withNeighbours(
  vectors: readonly Float32Array[],
  topics: readonly number[],
): readonly Float32Array[] {
  return vectors.map((vector, at) => {
    const before = (topics[at] ?? 1) < newTopic ? vectors[at - 1] : undefined;
    const after = (topics[at + 1] ?? 1) < newTopic ? vectors[at + 1] : undefined;
    const sum = vector.map((value, index) => value + (before?.[index] ?? 0) + (after?.[index] ?? 0));
    const length = Math.hypot(...sum);
    return sum.map((value) => value / Math.max(1e-9, length));
  });
}

/** The share of the prompt's own words that each sentence says, rare words counting more. */
function promptWordShares(prompt: string, sentences: readonly Sentence[]): readonly number[] {
  const asked = new Set(contentStems(prompt));
  const said = sentences.map(({ text }) => new Set(contentStems(text)));
  const weights = new Map(
    [...asked].map((word) => {
      const count = said.filter((words) => words.has(word)).length;
      return [word, Math.log((sentences.length + 1) / (count + 0.5))] as const;
    }),
  );
  const all = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  return said.map((words) => {
    let found = 0;
    for (const [word, weight] of weights) if (words.has(word)) found += weight;
    return all === 0 ? 0 : found / all;
  });
}

function contentStems(text: string): readonly string[] {
  return text
    .split(/[\s/–—-]+/)
    .map(bareWord)
    .filter((word) => word.length > 2 && !functionWords.has(word))
    .map(stem);
}

function clamp01(value: number): number {
  return Math.min(1, Math.max(0, value));
}
