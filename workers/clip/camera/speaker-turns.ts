import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { Face, Span } from './face-sightings.ts';
import { mouthMovement, mouthOnset } from './mouth-movement.ts';
import { loudSpans } from './speech-energy.ts';

/** A stretch of a shot in which one of its faces is looked at; undefined where one cannot tell whose turn it is. */
export type Turn = { readonly span: Span; readonly face: Face | undefined };

const windowMs = 400;
/** A mouth moves this much more than the other's (both from 0 to 1) when its owner speaks. */
const leastMargin = 0.15;
/** A new speaker is believed after so many windows. */
const confirmations = 3;
/** No turn is shorter. */
const shortestTurnMs = 1200;
/** A mouth opens before it is heard: the camera may go to it so much earlier, and a moment before it moves. */
const earlierMs = 1200;
const beforeOnsetMs = 120;

/**
 * Who is looked at when in a shot with faces: the one whose lips move while there is speech. Each mouth is
 * measured against its own usual movement; a new speaker counts from the first of three windows that it wins, and
 * is cut to when the mouth opens. Where nobody speaks, the last speaker goes on; who is seen alone is looked at.
 * Where nobody speaks at all, there is one turn without a face.
 * Faces come the most prominent first. Pure.
 */
export function speakerTurns(faces: readonly Face[], shot: Span, analysis: SourceAnalysis): readonly Turn[] {
  const [first] = faces;
  if (first === undefined) return [];
  const windows = windowsOf(shot);
  const isLoud = loudSpans(shot, analysis.sound);
  const winners = windowWinners(faces, windows, isLoud);
  const known = settled(winners);
  if (known.every((face) => face === undefined)) {
    return [{ span: shot, face: faces.length === 1 ? first : undefined }];
  }
  const chosen = known.map((face) => face ?? 0);
  const changes = changesOf(chosen).map(({ window, face }) => {
    const span = windows[window] ?? shot;
    const speaker = faces[face] ?? first;
    return { ms: window === 0 ? shot.startMs : changeMs(speaker, span, isLoud), face: speaker };
  });
  return turnsOf(changes, shot);
}

function windowsOf({ startMs, endMs }: Span): readonly Span[] {
  const count = Math.max(1, Math.floor((endMs - startMs) / windowMs));
  return Array.from({ length: count }, (_, window) => ({
    startMs: startMs + window * windowMs,
    endMs: window === count - 1 ? endMs : startMs + (window + 1) * windowMs,
  }));
}

/** Which face speaks in each window; undefined where nobody does, or one cannot tell. */
function windowWinners(
  faces: readonly Face[],
  windows: readonly Span[],
  isLoud: (span: Span) => boolean,
): readonly (number | undefined)[] {
  const movements = faces.map((face) => mouthMovement(face, windows));
  return windows.map((span, window) => {
    const visible = faces.flatMap((face, index) => (isSeen(face, span) ? [index] : []));
    if (visible.length === 1) return visible[0];
    if (!isLoud(span)) return undefined;
    const [best, second] = visible
      .map((face) => ({ face, movement: movements[face]?.[window] ?? 0 }))
      .sort((a, b) => b.movement - a.movement);
    if (best === undefined || second === undefined) return undefined;
    return best.movement - second.movement >= leastMargin ? best.face : undefined;
  });
}

function isSeen({ sightings }: Face, { startMs, endMs }: Span): boolean {
  return sightings.some(({ atMs }) => atMs >= startMs && atMs < endMs);
}

/** Who is looked at in each window; a new one from the first window of those that confirm it. */
function settled(winners: readonly (number | undefined)[]): readonly (number | undefined)[] {
  const chosen: (number | undefined)[] = [];
  let current: number | undefined;
  let challenger: { readonly face: number; readonly since: number; readonly wins: number } | undefined;
  for (const [window, face] of winners.entries()) {
    chosen.push(current);
    if (face === undefined) continue;
    if (face === current) {
      challenger = undefined;
      continue;
    }
    const isSame = challenger?.face === face;
    challenger = {
      face,
      since: isSame ? (challenger?.since ?? window) : window,
      wins: isSame ? (challenger?.wins ?? 0) + 1 : 1,
    };
    if (challenger.wins < confirmations) continue;
    current = challenger.face;
    chosen.fill(current, challenger.since);
    challenger = undefined;
  }
  const firstKnown = chosen.find((face) => face !== undefined) ?? winners.find((face) => face !== undefined);
  return chosen.map((face) => face ?? firstKnown);
}

type Change<Who> = { readonly window: number; readonly face: Who };

function changesOf(chosen: readonly number[]): readonly Change<number>[] {
  return chosen.flatMap((face, window) => (face === chosen[window - 1] ? [] : [{ window, face }]));
}

/** When to cut to a new speaker: in the silence before, as the mouth begins to move. */
function changeMs(face: Face, span: Span, isLoud: (span: Span) => boolean): number {
  const step = 100;
  let silentSince = span.startMs;
  const isSilentBefore = (): boolean => !isLoud({ startMs: silentSince - step, endMs: silentSince });
  while (span.startMs - silentSince < earlierMs && isSilentBefore()) silentSince -= step;
  const onset = mouthOnset(face, span, silentSince);
  return Math.max(Math.min(silentSince, span.startMs), onset - beforeOnsetMs);
}

/** The turns between changes; those too short to be looked at go to the one before. */
function turnsOf(
  changes: readonly { readonly ms: number; readonly face: Face }[],
  shot: Span,
): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [index, { ms, face }] of changes.entries()) {
    const endMs = changes[index + 1]?.ms ?? shot.endMs;
    const startMs = turns.at(-1)?.span.endMs ?? shot.startMs;
    const before = turns.at(-1);
    const isShort = endMs - Math.max(ms, startMs) < shortestTurnMs;
    if (before !== undefined && (isShort || before.face === face)) {
      turns[turns.length - 1] = {
        face: before.face,
        span: { ...before.span, endMs: Math.max(endMs, before.span.endMs) },
      };
    } else turns.push({ face, span: { startMs, endMs: Math.max(endMs, startMs) } });
  }
  return turns;
}
