import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { Span } from './face-sightings.ts';

/** A stretch in which the camera is a little nearer, the ways there and back included. */
export type PunchIn = Span;

/** From one punch-in to the next, in the time of the clip. */
const leastApartMs = 18_000;
/** A punch-in keeps this far from a scene's start and end: right beside a cut it looks like a mistake. */
const afterStartMs = 3000;
const beforeEndMs = 3500;
const lengthMs = 8000;
const inMs = 900;
const outMs = 1600;
/** How much nearer the camera comes. */
const nearer = 0.1;

type PlayedScene = {
  readonly span: Span;
  /** When it plays, in the clip's own time. */
  readonly clipStartMs: number;
};

/** Where the camera comes a little nearer: at the start of a sentence in a scene that is long enough. Pure. */
export function punchIns(
  analysis: SourceAnalysis,
  scenes: readonly PlayedScene[],
): readonly (readonly PunchIn[])[] {
  const { sound } = analysis;
  if (sound === null) return scenes.map(() => []);
  const starts = sound.sentence_starts.map((word) => sound.words[word]?.start_ms ?? -1);
  let lastMs = -Infinity;
  return scenes.map(({ span, clipStartMs }) => {
    const found: PunchIn[] = [];
    for (const startMs of starts) {
      if (startMs < span.startMs + afterStartMs || startMs > span.endMs - beforeEndMs) continue;
      const playedMs = clipStartMs + startMs - span.startMs;
      if (playedMs - lastMs < leastApartMs) continue;
      lastMs = playedMs;
      // Half of the way lies before the word, so that the camera arrives with it.
      const from = startMs - inMs / 2;
      found.push({ startMs: from, endMs: Math.min(span.endMs, from + lengthMs) });
    }
    return found;
  });
}

/** What the box's height is multiplied with at a moment, 1 outside of punch-ins. Pure. */
export function punchFactor(punches: readonly PunchIn[], ms: number): number {
  const punch = punches.find(({ startMs, endMs }) => ms >= startMs && ms < endMs);
  if (punch === undefined) return 1;
  const way = Math.min(1, (ms - punch.startMs) / inMs, (punch.endMs - ms) / outMs);
  return 1 - nearer * eased(Math.max(0, way));
}

/** From 0 to 1 without a jerk at either end. */
function eased(part: number): number {
  return part * part * (3 - 2 * part);
}
