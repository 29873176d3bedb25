import type { Span } from '../../media/speech/utterances.ts';
import { type DurationRange, durationMark } from './clip-durations.ts';
import type { Edge, Edges } from './clip-edges.ts';
import type { SentenceMarks } from './sentence-marks.ts';
import type { SourceCurves } from './source-curves.ts';
import { type ScorePart, type StyleWeights, styleWeights } from './style-weights.ts';
import { newTopic } from './topic-boundaries.ts';
import type { Sentence } from './transcript.ts';

/** A stretch that could be a clip. */
export type Candidate = Span & {
  /** Numbers of its sentences: `firstSentence` up to, not with, `endSentence`. */
  readonly firstSentence: number;
  readonly endSentence: number;
  readonly total: number;
  readonly parts: Readonly<Partial<Record<ScoredPart, number>>>;
};

/** `model` is a language model's own mark. */
type ScoredPart = ScorePart | 'prompt' | 'black' | 'model';

/** All that is known of a source when its stretches are judged. */
export type JudgedSource = {
  readonly curves: SourceCurves;
  readonly sentences: readonly Sentence[];
  readonly marks: readonly SentenceMarks[];
  /** How surely a topic begins with each sentence. */
  readonly topics: readonly number[];
  /** How well each sentence answers the prompt; null without one, or where nothing does. */
  readonly relevance: readonly number[] | null;
  /** How much of a stretch's score that answer is, 0 to 1. */
  readonly promptShare: number;
  readonly style: string;
};

/** Of the ends that a start could have, so many of the best are tried: the work stays linear in the source. */
const mostEnds = 24;
/** A topic of its own is as long as it is. */
const ownTopicMark = 0.7;
/** Of a clip that answers a prompt so much may be pauses before they count against it. */
const speakingShare = 0.9;
/** Weaker signs of a new topic inside a clip do not count against it. */
const topicNoise = 0.25;
const openingMs = 5_000;

/** Every stretch between a start and an end that lasts as long as a clip may. Pure. */
export function candidates(source: JudgedSource, edges: Edges, range: DurationRange): readonly Candidate[] {
  const sums = sentenceSums(source);
  const weights = styleWeights(source.style);
  let low = 0;
  return edges.starts.flatMap((start) => {
    while (low < edges.ends.length && (edges.ends[low]?.atMs ?? 0) < start.atMs + range.ownTopicMs) low += 1;
    return endsFor(source, start, edges.ends, low, range).map((end) =>
      scored({ source, sums, weights, range, start, end }),
    );
  });
}

function endsFor(
  source: JudgedSource,
  start: Edge,
  ends: readonly Edge[],
  from: number,
  range: DurationRange,
): readonly Edge[] {
  const fitting: Edge[] = [];
  for (let at = from; at < ends.length; at += 1) {
    const end = ends[at];
    if (end === undefined || end.atMs > start.atMs + range.maxMs) break;
    if (end.atMs >= start.atMs + range.minMs || isOwnTopic(source, start, end)) fitting.push(end);
  }
  if (fitting.length <= mostEnds) return fitting;
  return fitting.toSorted((a, b) => b.quality - a.quality || a.atMs - b.atMs).slice(0, mostEnds);
}

function isOwnTopic({ topics }: JudgedSource, start: Edge, end: Edge): boolean {
  const begins = topics[start.sentencesBefore] ?? 0;
  const follows = topics[end.sentencesBefore] ?? 1;
  return (
    end.sentencesBefore > start.sentencesBefore &&
    Math.min(begins, follows) >= topicNoise &&
    begins + follows >= 2 * newTopic
  );
}

/** Running sums over sentences, so that any range of them is judged at once. */
type SentenceSums = Readonly<
  Record<'words' | 'ms' | 'emotion' | 'facts' | 'play' | 'doubt' | 'breaks' | 'relevance', Float64Array>
>;

function sentenceSums({ sentences, marks, topics, relevance }: JudgedSource): SentenceSums {
  const summed = (value: (sentence: Sentence, at: number) => number): Float64Array => {
    const sums = new Float64Array(sentences.length + 1);
    for (const [at, sentence] of sentences.entries()) sums[at + 1] = (sums[at] ?? 0) + value(sentence, at);
    return sums;
  };
  const lengthMs = (sentence: Sentence): number => sentence.endMs - sentence.startMs;
  return {
    words: summed((sentence) => sentence.words.length),
    ms: summed(lengthMs),
    emotion: summed((sentence, at) => sentence.words.length * (marks[at]?.emotion ?? 0)),
    facts: summed((sentence, at) => sentence.words.length * (marks[at]?.facts ?? 0)),
    play: summed((sentence, at) => sentence.words.length * (marks[at]?.play ?? 0)),
    doubt: summed((sentence) => sentence.words.length * Math.max(0, 0.75 - sentence.confidence)),
    breaks: summed((_, at) => Math.max(0, (topics[at] ?? 0) - topicNoise)),
    relevance: summed((sentence, at) => lengthMs(sentence) * (relevance?.[at] ?? 0)),
  };
}

type Judging = {
  readonly source: JudgedSource;
  readonly sums: SentenceSums;
  readonly weights: StyleWeights;
  readonly range: DurationRange;
  readonly start: Edge;
  readonly end: Edge;
};

function scored(judging: Judging): Candidate {
  const { source, weights, start, end } = judging;
  const span: Span = { startMs: start.atMs, endMs: end.atMs };
  const parts = { ...textParts(judging, span), ...measuredParts(judging, span) };
  const gained = Object.entries(weights).reduce(
    (sum, [part, weight]) => sum + weight * parts[part as ScorePart],
    0,
  );
  const prompt = source.relevance === null ? undefined : promptPart(judging);
  const styled =
    prompt === undefined ? gained : (1 - source.promptShare) * gained + source.promptShare * prompt;
  const black = source.curves.black.mean(span);
  return {
    ...span,
    firstSentence: start.sentencesBefore,
    endSentence: end.sentencesBefore,
    total: rounded(styled - black),
    parts: roundedParts({ ...parts, black, ...(prompt === undefined ? {} : { prompt }) }, weights),
  };
}

type TextPart = 'opening' | 'ending' | 'hook' | 'coherence' | 'pace' | 'emotion' | 'facts' | 'play';

function textParts({ source, sums, start, end }: Judging, span: Span): Record<TextPart, number> {
  const [first, last] = [start.sentencesBefore, end.sentencesBefore];
  const between = (sum: Float64Array): number => (sum[last] ?? 0) - (sum[first] ?? 0);
  const words = between(sums.words);
  const perWord = (sum: Float64Array): number => (words === 0 ? 0 : between(sum) / words);
  // The first sentence may begin a topic: only what begins after it breaks the clip in two.
  const breaks = last > first ? (sums.breaks[last] ?? 0) - (sums.breaks[first + 1] ?? 0) : 0;
  const wordsPerSecond = (words * 1000) / (span.endMs - span.startMs);
  const doubt = 4 * perWord(sums.doubt);
  return {
    opening: clamp01(start.quality - doubt),
    ending: end.quality,
    hook: clamp01(openingHook(source, first, last, span) - doubt),
    coherence: words === 0 ? 0.5 : 1 / (1 + 4 * breaks),
    pace: clamp01((wordsPerSecond - 0.8) / 1.8),
    emotion: clamp01(perWord(sums.emotion) * 1.5),
    facts: clamp01(perWord(sums.facts) * 1.5),
    play: clamp01(perWord(sums.play) * 1.5),
  };
}

/** How strongly the first seconds pull, by their words and by how loud they are. */
function openingHook(source: JudgedSource, first: number, last: number, span: Span): number {
  const opening = { startMs: span.startMs, endMs: Math.min(span.endMs, span.startMs + openingMs) };
  const level = source.curves.level.mean(opening);
  if (last <= first) return 0.5 * level;
  const marks = source.marks[first]?.hook ?? 0;
  const second = source.sentences[first + 1];
  const isEarly = first + 1 < last && second !== undefined && second.startMs < opening.endMs;
  const next = isEarly ? (source.marks[first + 1]?.hook ?? 0) : 0;
  return clamp01(Math.max(marks, 0.75 * next + 0.25 * marks) * 0.85 + 0.15 * level);
}

type MeasuredPart = Exclude<ScorePart, TextPart>;

function measuredParts({ source, range, start, end }: Judging, span: Span): Record<MeasuredPart, number> {
  const { curves } = source;
  return {
    speech: clamp01(curves.speech.mean(span) / 0.75),
    level: curves.level.mean(span),
    faces: curves.faces.mean(span),
    duration: Math.max(
      durationMark(span.endMs - span.startMs, range),
      isOwnTopic(source, start, end) ? ownTopicMark : 0,
    ),
    peaks: clamp01(curves.peaks.mean(span) * 8),
    outcries: clamp01(curves.outcries.mean(span) * 6),
    motion: curves.motion.mean(span),
    shot: hasNear(curves.shotsMs, span.startMs, 500) || span.startMs === 0 ? 1 : 0,
  };
}

/** How much of what is said answers the prompt, and that at least something does. */
function promptPart({ source, sums, start, end }: Judging): number {
  const leastMs = (end.atMs - start.atMs) * speakingShare;
  const [first, last] = [start.sentencesBefore, end.sentencesBefore];
  const ms = (sums.ms[last] ?? 0) - (sums.ms[first] ?? 0);
  if (ms <= 0) return 0;
  let best = 0;
  for (let at = first; at < last; at += 1) best = Math.max(best, source.relevance?.[at] ?? 0);
  const mean = ((sums.relevance[last] ?? 0) - (sums.relevance[first] ?? 0)) / Math.max(ms, leastMs);
  return 0.5 * best + 0.5 * mean;
}

/** Whether the ascending `times` have one within `reachMs` of `atMs`. */
function hasNear(times: readonly number[], atMs: number, reachMs: number): boolean {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < atMs - reachMs) low = middle + 1;
    else high = middle;
  }
  return (times[low] ?? Number.POSITIVE_INFINITY) <= atMs + reachMs;
}

function clamp01(value: number): number {
  return Math.min(1, Math.max(0, value));
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** What counted for this style, for people who look at a plan. */
function roundedParts(
  parts: Readonly<Partial<Record<ScoredPart, number>>>,
  weights: StyleWeights,
): Partial<Record<ScoredPart, number>> {
  return Object.fromEntries(
    Object.entries(parts)
      .filter(([part]) => part in weights || part === 'prompt' || part === 'black')
      .map(([part, value]) => [part, rounded(value)]),
  );
}
