import type { Span } from '../../media/speech/utterances.ts';
import type { SentenceMarks } from './sentence-marks.ts';
import type { SourceCurves } from './source-curves.ts';
import type { Sentence } from './transcript.ts';

/** A moment where a clip may start or end. */
export type Edge = {
  readonly atMs: number;
  /** How natural it is, 0 to 1. */
  readonly quality: number;
  /** How many sentences begin before it. */
  readonly sentencesBefore: number;
};

export type Edges = { readonly starts: readonly Edge[]; readonly ends: readonly Edge[] };

/** Room left before the first and after the last word, but never more than half the pause. */
const leadMs = 350;
const tailMs = 450;
/** A pause this long parts phrases that were not understood. */
const fullPauseMs = 900;
/** Without speech for so long, cuts of the picture and this grid decide. */
const wordlessMs = 6_000;
const gridMs = 5_000;
const gridQuality = 0.3;
const cutQuality = 0.6;

type Spoken = {
  readonly sentences: readonly Sentence[];
  readonly marks: readonly SentenceMarks[];
  readonly topics: readonly number[];
};

/**
 * Where clips may start and end, both ascending: at ends of sentences, in pauses where words were not
 * understood, at cuts and on a grid where nobody speaks. None lies inside a word. Linear in the source. Pure.
 */
export function clipEdges(curves: SourceCurves, spoken: Spoken): Edges {
  const { sentences, marks, topics } = spoken;
  const unread = unreadUtterances(curves.utterances, sentences);
  const voices = mergedSpans([...sentences, ...curves.utterances]);
  const quiet = quietEdges(curves, voices);
  const starts = [
    ...sentences.flatMap((sentence, at) => startOf(sentence, marks[at], topics[at] ?? 0)),
    ...unread.map((span) => pauseStart(span, voices, curves.durationMs)),
    ...quiet,
  ];
  const ends = [
    ...sentences.flatMap((sentence, at) => endOf(sentence, marks[at], topics[at + 1] ?? 1)),
    ...unread.map((span) => pauseEnd(span, voices, curves.durationMs)),
    ...quiet,
  ];
  return { starts: counted(starts, sentences), ends: counted(ends, sentences) };
}

type Place = { readonly atMs: number; readonly quality: number };

function startOf(sentence: Sentence, marks: SentenceMarks | undefined, topic: number): readonly Place[] {
  // Words that run into each other leave no room for a cut.
  if (sentence.gapBeforeMs < 0) return [];
  const lead = Math.min(leadMs, sentence.gapBeforeMs / (sentence.startMs === sentence.gapBeforeMs ? 1 : 2));
  return [
    { atMs: Math.round(sentence.startMs - lead), quality: 0.75 * (marks?.standalone ?? 0) + 0.25 * topic },
  ];
}

function endOf(sentence: Sentence, marks: SentenceMarks | undefined, nextTopic: number): readonly Place[] {
  if (sentence.gapAfterMs < 0) return [];
  const tail = Math.min(tailMs, sentence.gapAfterMs / 2);
  return [
    { atMs: Math.round(sentence.endMs + tail), quality: 0.75 * (marks?.payoff ?? 0) + 0.25 * nextTopic },
  ];
}

/** Utterances of which no word was understood. */
function unreadUtterances(utterances: readonly Span[], sentences: readonly Sentence[]): readonly Span[] {
  let at = 0;
  return utterances.filter((span) => {
    while (at < sentences.length && (sentences[at]?.endMs ?? 0) <= span.startMs) at += 1;
    return (sentences[at]?.startMs ?? Number.POSITIVE_INFINITY) >= span.endMs;
  });
}

function pauseStart(span: Span, voices: readonly Span[], durationMs: number): Place {
  const { gapMs, isFileEdge } = gapBefore(span.startMs, voices, durationMs);
  const lead = Math.min(leadMs, isFileEdge ? gapMs : gapMs / 2);
  return {
    atMs: Math.round(span.startMs - lead),
    quality: isFileEdge ? 1 : Math.min(1, gapMs / fullPauseMs),
  };
}

function pauseEnd(span: Span, voices: readonly Span[], durationMs: number): Place {
  const following = firstFrom(voices, span.endMs);
  const next = voices[following];
  // A phrase without a pause was parted: the voice goes on.
  const goesOn = (voices[following - 1]?.endMs ?? 0) > span.endMs;
  const gapMs = goesOn ? 0 : (next?.startMs ?? durationMs) - span.endMs;
  const tail = Math.min(tailMs, next === undefined ? gapMs : gapMs / 2);
  return {
    atMs: Math.round(span.endMs + tail),
    quality: next === undefined ? 1 : Math.min(1, gapMs / fullPauseMs),
  };
}

function gapBefore(
  atMs: number,
  voices: readonly Span[],
  durationMs: number,
): { gapMs: number; isFileEdge: boolean } {
  const own = firstFrom(voices, Math.min(atMs, durationMs));
  const last = voices[own - 1];
  return { gapMs: Math.max(0, atMs - (last?.endMs ?? 0)), isFileEdge: last === undefined };
}

/** The number of the first voice that starts at `atMs` or later. */
function firstFrom(voices: readonly Span[], atMs: number): number {
  let [low, high] = [0, voices.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((voices[middle]?.startMs ?? 0) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where nobody speaks for long: the source's ends, cuts of the picture, and a grid between them. */
function quietEdges({ durationMs, shotsMs }: SourceCurves, voices: readonly Span[]): readonly Place[] {
  const stretches = [...voices, { startMs: durationMs, endMs: durationMs }].map((voice, at) => ({
    startMs: voices[at - 1]?.endMs ?? 0,
    endMs: voice.startMs,
  }));
  let shot = 0;
  return stretches.flatMap((stretch) => {
    while (shot < shotsMs.length && (shotsMs[shot] ?? 0) <= stretch.startMs) shot += 1;
    if (stretch.endMs - stretch.startMs < wordlessMs) return [];
    const cuts: number[] = [];
    for (let at = shot; at < shotsMs.length && (shotsMs[at] ?? 0) < stretch.endMs; at += 1) {
      cuts.push(shotsMs[at] ?? 0);
    }
    const natural = [
      ...(stretch.startMs === 0 ? [0] : []),
      ...cuts,
      ...(stretch.endMs === durationMs ? [durationMs] : []),
    ];
    return [...natural.map((atMs) => ({ atMs, quality: cutQuality })), ...grid(stretch, natural)];
  });
}

function grid(stretch: Span, natural: readonly number[]): readonly Place[] {
  const places: Place[] = [];
  let near = 0;
  for (let atMs = stretch.startMs + gridMs; atMs < stretch.endMs; atMs += gridMs) {
    while (near < natural.length && (natural[near] ?? 0) < atMs - gridMs / 2) near += 1;
    const isNear = Math.abs((natural[near] ?? Number.NEGATIVE_INFINITY) - atMs) <= gridMs / 2;
    if (!isNear) places.push({ atMs: Math.round(atMs), quality: gridQuality });
  }
  return places;
}

function mergedSpans(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = [];
  for (const { startMs, endMs } of spans.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = merged.at(-1);
    if (last !== undefined && startMs <= last.endMs) {
      merged[merged.length - 1] = { startMs: last.startMs, endMs: Math.max(last.endMs, endMs) };
    } else merged.push({ startMs, endMs });
  }
  return merged;
}

/** Edges in the order of time, each with how many sentences begin before it; of two at once the better. */
function counted(places: readonly Place[], sentences: readonly Sentence[]): readonly Edge[] {
  const sorted = places.toSorted((a, b) => a.atMs - b.atMs || b.quality - a.quality);
  let before = 0;
  return sorted
    .filter((place, at) => at === 0 || sorted[at - 1]?.atMs !== place.atMs)
    .map((place) => {
      while (before < sentences.length && (sentences[before]?.startMs ?? 0) < place.atMs) before += 1;
      return { ...place, sentencesBefore: before };
    });
}
