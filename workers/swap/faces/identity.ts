import type { SwapSegment } from '../contract.ts';

/** A face of one shot, as far as choosing among persons needs it. */
export type PersonTrack = {
  /** Frames in which it was seen, ascending. */
  readonly frames: readonly number[];
  /** Its mean shape, pose taken out, in centimetres of the canonical face [468 * 3]. */
  readonly shape: Float32Array;
  /** Mean height of the face, in pixels. */
  readonly height: number;
};

/**
 * Mean shapes of one person differ less than this from shot to shot (centimetres; 0.02 to 0.03 measured), those of
 * two persons more (0.11 and above).
 */
export const samePerson = 0.07;

/**
 * Sorts tracks into persons, the one that is longest in the picture first (of equals, the larger one). Tracks
 * that are in the picture at the same time are never one person. `apart` says how far two shapes are apart. Pure.
 */
export function persons<Track extends PersonTrack>(
  tracks: readonly Track[],
  apart: (a: Float32Array, b: Float32Array) => number,
): readonly (readonly Track[])[] {
  const found: [Track, ...Track[]][] = [];
  for (const track of tracks.toSorted((a, b) => b.frames.length - a.frames.length)) {
    const best = found
      .filter((person) => person.every((other) => !areTogether(other, track)))
      // Its longest track knows a person's shape best.
      .map((person) => ({ person, distance: apart(person[0].shape, track.shape) }))
      .toSorted((a, b) => a.distance - b.distance)[0];
    if (best !== undefined && best.distance < samePerson) best.person.push(track);
    else found.push([track]);
  }
  const seen = (person: readonly Track[]): number =>
    person.reduce((sum, { frames }) => sum + frames.length, 0);
  const size = (person: readonly Track[]): number =>
    person.reduce((sum, { height }) => sum + height, 0) / person.length;
  return found.toSorted((a, b) => seen(b) - seen(a) || size(b) - size(a));
}

function areTogether(a: PersonTrack, b: PersonTrack): boolean {
  const [firstA = 0, firstB = 0] = [a.frames[0], b.frames[0]];
  return firstA <= (b.frames.at(-1) ?? firstB) && firstB <= (a.frames.at(-1) ?? firstA);
}

const shortestSeconds = 0.3;
const longestGapSeconds = 0.5;
const paddingSeconds = 0.25;

export type VideoFrames = {
  readonly frameCount: number;
  readonly framesPerSecond: number;
  readonly cutFrames: readonly number[];
};

/** The stretches in which a person's tracks lie: padded, joined over short gaps, never over a cut. Pure. */
export function faceSegments(tracks: readonly PersonTrack[], video: VideoFrames): readonly SwapSegment[] {
  const { frameCount, framesPerSecond } = video;
  const cuts = [0, ...video.cutFrames, frameCount];
  const padding = Math.round(paddingSeconds * framesPerSecond);
  const gap = Math.round(longestGapSeconds * framesPerSecond);
  const spans = cuts.slice(0, -1).flatMap((start, shot) => {
    const end = cuts[shot + 1] as number;
    const inShot = tracks
      .map(({ frames }) => ({ first: frames[0] ?? 0, last: frames.at(-1) ?? 0 }))
      .filter(({ first }) => first >= start && first < end)
      .toSorted((a, b) => a.first - b.first)
      .map(({ first, last }) => ({
        first_frame: Math.max(start, first - padding),
        end_frame: Math.min(end, last + 1 + padding),
      }));
    return joined(inShot, gap);
  });
  return spans
    .filter(
      (span) => span.end_frame - span.first_frame >= Math.min(frameCount, shortestSeconds * framesPerSecond),
    )
    .map((span, index) => ({ index, ...span }));
}

type Span = { readonly first_frame: number; readonly end_frame: number };

function joined(spans: readonly Span[], gap: number): Span[] {
  const out: Span[] = [];
  for (const span of spans) {
    const last = out.at(-1);
    if (last !== undefined && span.first_frame - last.end_frame < gap) {
      out[out.length - 1] = {
        first_frame: last.first_frame,
        end_frame: Math.max(last.end_frame, span.end_frame),
      };
    } else out.push(span);
  }
  return out;
}
