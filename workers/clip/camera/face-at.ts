import type { Box } from './camera-plan.ts';
import type { Face, FaceSighting, Span } from './face-sightings.ts';

/** What the camera knows of a face at each step of its path; undefined while the face is lost. */
export type SeenFace = { readonly box: Box; readonly eyesY: number };

/** From one step of a camera's path to the next. */
export const stepMs = 125;
/** A lost face is waited for so long. */
const holdMs = 1500;
/** A face that comes back this near (in its own widths) was never gone: it had only turned away. */
const nearReturn = 1.5;

/** The moments of a camera's path, its end included. Pure. */
export function pathTimes({ startMs, endMs }: Span): readonly number[] {
  const count = Math.max(1, Math.ceil((endMs - startMs) / stepMs - 1e-6));
  return Array.from({ length: count + 1 }, (_, step) => Math.min(endMs, startMs + step * stepMs));
}

/** Where a face is at each of `times`, ascending: on the way from one sighting to the next, or held. Pure. */
export function faceAt({ sightings }: Face, times: readonly number[]): readonly (SeenFace | undefined)[] {
  let after = 0;
  return times.map((ms) => {
    while (after < sightings.length && (sightings[after]?.atMs ?? Infinity) <= ms) after += 1;
    return seenBetween(sightings[after - 1], sightings[after], ms);
  });
}

function seenBetween(
  last: FaceSighting | undefined,
  next: FaceSighting | undefined,
  ms: number,
): SeenFace | undefined {
  if (last === undefined) return next !== undefined && next.atMs - ms <= holdMs ? next : undefined;
  if (next === undefined) return ms - last.atMs <= holdMs ? last : undefined;
  const gapMs = next.atMs - last.atMs;
  if (gapMs <= holdMs || isNear(last.box, next.box)) return mixed(last, next, (ms - last.atMs) / gapMs);
  if (ms - last.atMs <= holdMs) return last;
  return next.atMs - ms <= holdMs ? next : undefined;
}

function isNear(a: Box, b: Box): boolean {
  const apart = Math.hypot(a.x + a.width / 2 - b.x - b.width / 2, a.y + a.height / 2 - b.y - b.height / 2);
  return apart <= nearReturn * Math.min(a.width, b.width);
}

function mixed(last: FaceSighting, next: FaceSighting, part: number): SeenFace {
  const mix = (a: number, b: number): number => a + (b - a) * part;
  return {
    box: {
      x: mix(last.box.x, next.box.x),
      y: mix(last.box.y, next.box.y),
      width: mix(last.box.width, next.box.width),
      height: mix(last.box.height, next.box.height),
    },
    eyesY: mix(last.eyesY, next.eyesY),
  };
}
