import type { Span } from '../../media/speech/utterances.ts';
import { clipEdges, type Edge } from './clip-edges.ts';
import { mostApart, spreadPicks } from './pick-segments.ts';

/** What the choice rests on: all of it measured, nothing of it understood. */
export type Material = {
  readonly durationMs: number;
  readonly utterances: readonly Span[];
  /** Where the picture cuts, ascending. */
  readonly shotsMs: readonly number[];
  readonly black: readonly Span[];
  /** Mean level of a stretch in dBFS. */
  readonly levelDb: (span: Span) => number;
};

export type Wish = {
  readonly count: number;
  /** Null: as the material asks, 15 to 60 seconds. */
  readonly lengthMs: number | null;
};

export type Segment = Span & {
  readonly score: { readonly total: number; readonly parts: Readonly<Record<string, number>> };
};

export type Choice = {
  /** The best first. */
  readonly segments: readonly Segment[];
  /** Why there are fewer than asked; null when there are not. */
  readonly shortfall: string | null;
  readonly notes: readonly string[];
};

/** Durations a clip may have, and the one it should come near. */
type DurationRange = { readonly minMs: number; readonly idealMs: number; readonly maxMs: number };

const freeRange: DurationRange = { minMs: 15_000, idealMs: 32_000, maxMs: 60_000 };
/** When the source is too short for all the clips at 15 s, they may be this short before any is given up. */
const shortestFreeMs = 10_000;
/** Shorter than this is no clip at all. */
export const shortestClipMs = 1_000;
const lengthTolerance = 0.2;

const weights = {
  speech: 0.34,
  edges: 0.22,
  duration: 0.18,
  opening: 0.12,
  level: 0.08,
  shot: 0.06,
} as const;

/**
 * Chooses stretches of the source that can stand alone: they start and end in pauses (in music or silence:
 * at cuts of the picture), come near the length asked for, and neither overlap nor crowd together. Pure.
 */
export function chooseSegments(material: Material, wish: Wish): Choice {
  const range = durationRange(material, wish);
  const notes: string[] = [];
  if (material.durationMs < range.minMs) {
    if (wish.lengthMs !== null) notes.push('The source is shorter than the length that was asked for.');
    const whole = scored(material, range, wholeSource(material));
    return { segments: [whole], shortfall: shortfall(1, wish, range), notes };
  }
  const candidates = candidateSegments(material, range);
  const spread = spreadPicks(candidates, wish.count, material.durationMs);
  const segments = spread.length < wish.count ? mostApart(candidates, wish.count) : spread;
  const best = segments.toSorted((a, b) => b.score.total - a.score.total || a.startMs - b.startMs);
  return { segments: best, shortfall: shortfall(best.length, wish, range), notes };
}

function durationRange(material: Material, wish: Wish): DurationRange {
  if (wish.lengthMs !== null) {
    const slackMs = wish.lengthMs * lengthTolerance;
    return { minMs: wish.lengthMs - slackMs, idealMs: wish.lengthMs, maxMs: wish.lengthMs + slackMs };
  }
  const share = material.durationMs / wish.count;
  const minMs = Math.max(shortestFreeMs, Math.min(freeRange.minMs, share * 0.9));
  return { ...freeRange, minMs, idealMs: Math.max(minMs, Math.min(freeRange.idealMs, share)) };
}

function candidateSegments(material: Material, range: DurationRange): readonly Segment[] {
  const { starts, ends } = clipEdges(material);
  const candidates = starts.flatMap((start) =>
    ends
      .slice(
        firstAtOrAfter(ends, start.atMs + range.minMs),
        firstAtOrAfter(ends, start.atMs + range.maxMs + 1),
      )
      .map((end) => scored(material, range, { start, end })),
  );
  if (candidates.length > 0) return candidates;
  // One long unbroken thing: no pause lies at the right distance, so time alone decides.
  const end: Edge = { atMs: Math.min(material.durationMs, range.idealMs), quality: 0 };
  return [scored(material, range, { start: { atMs: 0, quality: 0 }, end })];
}

/** `ends` ascend, so the slice that fits a start is found by halving. */
function firstAtOrAfter(ends: readonly Edge[], atMs: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle]?.atMs ?? 0) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

type Edges = { readonly start: Edge; readonly end: Edge };

/** A source that is shorter than the shortest clip is taken as it is. */
function wholeSource(material: Material): Edges {
  return { start: { atMs: 0, quality: 1 }, end: { atMs: material.durationMs, quality: 1 } };
}

function scored(material: Material, range: DurationRange, edges: Edges): Segment {
  const span: Span = { startMs: Math.round(edges.start.atMs), endMs: Math.round(edges.end.atMs) };
  const durationMs = span.endMs - span.startMs;
  const opening: Span = { startMs: span.startMs, endMs: Math.min(span.endMs, span.startMs + 3_000) };
  const parts = {
    speech: overlapMs(material.utterances, span) / durationMs,
    edges: (edges.start.quality + edges.end.quality) / 2,
    duration: Math.max(0, 1 - Math.abs(durationMs - range.idealMs) / range.idealMs),
    opening: overlapMs(material.utterances, opening) / (opening.endMs - opening.startMs),
    level: clamp01((material.levelDb(span) + 45) / 35),
    shot: material.shotsMs.some((atMs) => Math.abs(atMs - span.startMs) <= 500) ? 1 : 0,
    black: overlapMs(material.black, span) / durationMs,
  };
  const gained = Object.entries(weights).reduce(
    (sum, [part, weight]) => sum + weight * parts[part as keyof typeof weights],
    0,
  );
  return { ...span, score: { total: rounded(gained - parts.black), parts: mapValues(parts, rounded) } };
}

function shortfall(found: number, wish: Wish, range: DurationRange): string | null {
  if (found >= wish.count) return null;
  const seconds = Math.round(range.minMs / 1000);
  const clips = found === 1 ? 'one clip' : `${found} clips`;
  return `The source gives only ${clips} of at least ${seconds} seconds without repeating itself; ${wish.count} were asked for.`;
}

/** How much of `span` the ascending, disjoint `spans` cover. */
export function overlapMs(spans: readonly Span[], span: Span): number {
  let covered = 0;
  for (const each of spans) {
    if (each.startMs >= span.endMs) break;
    covered += Math.max(0, Math.min(each.endMs, span.endMs) - Math.max(each.startMs, span.startMs));
  }
  return covered;
}

function clamp01(value: number): number {
  return Math.min(1, Math.max(0, value));
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function mapValues(
  record: Readonly<Record<string, number>>,
  change: (value: number) => number,
): Record<string, number> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
