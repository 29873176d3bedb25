import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { Face, Span } from './face-sightings.ts';

/** A stretch of a shot in which one of its faces is looked at. */
export type Turn = { readonly span: Span; readonly face: Face };

const windowMs = 400;
/** Louder than this part of the loudest moment around, someone may be speaking. */
const leastLoudness = 0.18;
/** A mouth moves this much more than the other's (both from 0 to 1) when its owner speaks. */
const leastMargin = 0.15;
/** A new speaker is believed after so many windows. */
const confirmations = 3;
/** No turn is shorter. */
const shortestTurnMs = 1200;
/** Lips that move less than this (in parts of the eye distance) are the mesh's trembling. */
const leastLipRange = 0.04;
const loudnessStepMs = 100;

/**
 * Who is to be looked at when in a shot with several faces: the one whose lips move while there is speech. Each
 * mouth is measured against its own usual movement; a new speaker counts from the first of three windows. The
 * first face goes on where nobody speaks. Pure.
 */
export function speakerTurns(faces: readonly Face[], span: Span, analysis: SourceAnalysis): readonly Turn[] {
  const [first] = faces;
  if (first === undefined) return [];
  const starts = windowStarts(span);
  const scores = faces.map((face) => mouthScores(face, starts));
  const speech = starts.map((startMs) => hasSpeech(startMs, span, analysis));
  const winners = starts.map((_, window) => (speech[window] ? winner(scores, window) : undefined));
  const chosen = dwelling(settled(winners), starts, span);
  return joinTurns(
    chosen.map((face, window): Turn => {
      const startMs = starts[window] ?? span.startMs;
      return { span: { startMs, endMs: starts[window + 1] ?? span.endMs }, face: faces[face ?? 0] ?? first };
    }),
  );
}

function windowStarts({ startMs, endMs }: Span): readonly number[] {
  const count = Math.max(1, Math.floor((endMs - startMs) / windowMs));
  return Array.from({ length: count }, (_, window) => startMs + window * windowMs);
}

/** How much the lips move in each window, 0 for the face's own stillness to 1 for its own liveliness. */
function mouthScores(face: Face, starts: readonly number[]): readonly number[] {
  const movements = starts.map((startMs) =>
    lipRange(face, { startMs: startMs - 60, endMs: startMs + windowMs + 60 }),
  );
  const known = movements.filter((each) => each !== undefined).sort((a, b) => a - b);
  const low = known[Math.floor(known.length * 0.2)] ?? 0;
  const high = known[Math.floor(known.length * 0.8)] ?? 0;
  const range = Math.max(leastLipRange, high - low);
  return movements.map((each) => (each === undefined ? 0 : Math.min(1, Math.max(0, (each - low) / range))));
}

function lipRange({ sightings }: Face, { startMs, endMs }: Span): number | undefined {
  const lips = sightings
    .filter(({ atMs }) => atMs >= startMs && atMs < endMs)
    .map((each) => each.lips)
    .filter((each) => each !== undefined);
  return lips.length < 2 ? undefined : Math.max(...lips) - Math.min(...lips);
}

function hasSpeech(startMs: number, span: Span, { sound }: SourceAnalysis): boolean {
  if (sound === null) return false;
  const amplitude = (tenths: number): number => 10 ** (tenths / 200);
  const around = sound.loudness.slice(
    Math.floor(span.startMs / loudnessStepMs),
    Math.ceil(span.endMs / loudnessStepMs),
  );
  const peak = Math.max(0, ...around.map(amplitude));
  const now = sound.loudness.slice(
    Math.floor(startMs / loudnessStepMs),
    Math.ceil((startMs + windowMs) / loudnessStepMs),
  );
  return peak > 0 && Math.max(0, ...now.map(amplitude)) >= leastLoudness * peak;
}

function winner(scores: readonly (readonly number[])[], window: number): number | undefined {
  const ranked = scores
    .map((each, face) => ({ face, score: each[window] ?? 0 }))
    .sort((a, b) => b.score - a.score);
  const [best, second] = ranked;
  if (best === undefined) return undefined;
  return best.score - (second?.score ?? 0) >= leastMargin ? best.face : undefined;
}

/** Who is looked at in each window; a new one from the first window of those that confirm it. */
function settled(winners: readonly (number | undefined)[]): readonly (number | undefined)[] {
  const chosen: (number | undefined)[] = [];
  let current: number | undefined;
  let challenger: { face: number; since: number; wins: number } | undefined;
  for (const [window, face] of winners.entries()) {
    if (face === current) challenger = undefined;
    else if (face !== undefined) {
      challenger =
        challenger?.face === face
          ? { ...challenger, wins: challenger.wins + 1 }
          : { face, since: window, wins: 1 };
    }
    if (challenger !== undefined && challenger.wins >= confirmations) {
      current = challenger.face;
      chosen.fill(current, challenger.since);
      challenger = undefined;
    }
    chosen.push(current);
  }
  const firstKnown = chosen.find((face) => face !== undefined);
  return chosen.map((face) => face ?? firstKnown);
}

/** Turns too short to be looked at go to the one before (the first to the one after). */
function dwelling(
  chosen: readonly (number | undefined)[],
  starts: readonly number[],
  span: Span,
): readonly (number | undefined)[] {
  const result = [...chosen];
  for (let from = 0; from < result.length; ) {
    let to = from;
    while (to < result.length && result[to] === result[from]) to += 1;
    const lengthMs = (starts[to] ?? span.endMs) - (starts[from] ?? span.startMs);
    if (lengthMs < shortestTurnMs && from > 0) result.fill(result[from - 1], from, to);
    else if (lengthMs < shortestTurnMs && to < result.length) result.fill(result[to], from, to);
    from = to;
  }
  return result;
}

function joinTurns(turns: readonly Turn[]): readonly Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const before = joined.at(-1);
    if (before?.face === turn.face) {
      joined[joined.length - 1] = { face: turn.face, span: { ...before.span, endMs: turn.span.endMs } };
    } else joined.push(turn);
  }
  return joined;
}
