import type { Span } from '../../media/speech/utterances.ts';
import type { Material } from './choose-segments.ts';

/** A moment where a clip may start or end, and how natural that is (0 to 1). */
export type Edge = { readonly atMs: number; readonly quality: number };

/** Room left before the first and after the last word, but never more than half the pause. */
const leadMs = 350;
const tailMs = 450;
/** A pause this long ends a thought as surely as any. */
const fullPauseMs = 900;
/** Speech that covers less of the source than this does not decide where clips begin. */
const leastSpeechShare = 0.1;
/** Without speech or cuts, clips may start on this grid. */
const gridMs = 5_000;
const gridQuality = 0.3;

/** Where clips may start and end, both ascending: around utterances, or at cuts where hardly anybody speaks. Pure. */
export function clipEdges(material: Material): {
  readonly starts: readonly Edge[];
  readonly ends: readonly Edge[];
} {
  const spoken = material.utterances.reduce((sum, span) => sum + span.endMs - span.startMs, 0);
  if (spoken < material.durationMs * leastSpeechShare) {
    const edges = pictureEdges(material);
    return { starts: edges, ends: edges };
  }
  return speechEdges(material.utterances, material.durationMs);
}

function speechEdges(spans: readonly Span[], durationMs: number): { starts: Edge[]; ends: Edge[] } {
  const starts = spans.map((span, index) => {
    const gapMs = span.startMs - (spans[index - 1]?.endMs ?? 0);
    const atFileStart = index === 0;
    const lead = atFileStart ? Math.min(leadMs, gapMs) : Math.min(leadMs, gapMs / 2);
    return { atMs: span.startMs - lead, quality: atFileStart ? 1 : Math.min(1, gapMs / fullPauseMs) };
  });
  const ends = spans.map((span, index) => {
    const next = spans[index + 1];
    const gapMs = (next?.startMs ?? durationMs) - span.endMs;
    const tail = next === undefined ? Math.min(tailMs, gapMs) : Math.min(tailMs, gapMs / 2);
    return { atMs: span.endMs + tail, quality: next === undefined ? 1 : Math.min(1, gapMs / fullPauseMs) };
  });
  return { starts, ends };
}

function pictureEdges(material: Material): Edge[] {
  const natural = [0, ...material.shotsMs, material.durationMs];
  const steps = Math.floor(material.durationMs / gridMs);
  const grid = Array.from({ length: steps }, (_, step) => (step + 1) * gridMs);
  const added = grid.filter((atMs) => natural.every((edge) => Math.abs(edge - atMs) > gridMs / 2));
  return [
    ...natural.map((atMs) => ({ atMs, quality: 1 })),
    ...added.map((atMs) => ({ atMs, quality: gridQuality })),
  ].sort((a, b) => a.atMs - b.atMs);
}
