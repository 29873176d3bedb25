import { type Box, boxOverlap } from './rgb-frame.ts';

/** Something with a box that was seen in a frame of the video. */
export type Sighting = { readonly frame: number; readonly box: Box };

/** The faces seen in one sampled frame. */
export type SampledFrame<Face extends Sighting> = {
  readonly frame: number;
  readonly faces: readonly Face[];
};

export type TrackingRules = {
  /** The first frames of new shots, ascending: no track goes over one. */
  readonly cutFrames: readonly number[];
  /** Frames from one sample to the next. */
  readonly framesPerSample: number;
};

/** Boxes of one face in two samples overlap more than this. */
const leastOverlap = 0.5;
/** A face may be missing for this many frames of the video, and is the same one afterwards. */
const longestGapFrames = 10;
/** Seen just once in a shot that has more samples: a pattern that looked like a face for a moment. */
const fewestSightings = 2;

type Track<Face> = { readonly faces: [Face, ...Face[]] };

/**
 * Joins the faces of successive samples into tracks, each one face of one shot, in the order of their
 * beginning. A track goes on where the next box overlaps the last one, or where it would be if the face
 * moved on as before. Pure.
 */
export function trackFaces<Face extends Sighting>(
  samples: readonly SampledFrame<Face>[],
  rules: TrackingRules,
): readonly (readonly Face[])[] {
  const tracks: Track<Face>[] = [];
  let open: Track<Face>[] = [];
  let nextCut = 0;
  for (const sample of samples) {
    const cutBefore = nextCut;
    while ((rules.cutFrames[nextCut] ?? Infinity) <= sample.frame) nextCut += 1;
    if (nextCut > cutBefore) open = [];
    open = open.filter((track) => missedFrames(track, sample, rules) <= longestGapFrames);
    const started = follow(open, sample).map((face): Track<Face> => ({ faces: [face] }));
    tracks.push(...started);
    open = [...open, ...started];
  }
  return tracks.map(({ faces }) => faces).filter((faces) => isFirm(faces, samples, rules));
}

function missedFrames<Face extends Sighting>(
  track: Track<Face>,
  sample: SampledFrame<Face>,
  { framesPerSample }: TrackingRules,
): number {
  return sample.frame - lastOf(track).frame - framesPerSample;
}

/** Gives each open track the face that fits it best, best pairs first; returns the faces left over. */
function follow<Face extends Sighting>(open: readonly Track<Face>[], sample: SampledFrame<Face>): Face[] {
  const pairs = open
    .flatMap((track) => sample.faces.map((face) => ({ track, face, overlap: overlapWith(track, face) })))
    .filter(({ overlap }) => overlap > leastOverlap)
    .sort((a, b) => b.overlap - a.overlap);
  const taken = new Set<Face>();
  const followed = new Set<Track<Face>>();
  for (const { track, face } of pairs) {
    if (taken.has(face) || followed.has(track)) continue;
    track.faces.push(face);
    taken.add(face);
    followed.add(track);
  }
  return sample.faces.filter((face) => !taken.has(face));
}

function overlapWith<Face extends Sighting>(track: Track<Face>, face: Face): number {
  const last = lastOf(track);
  return Math.max(boxOverlap(last.box, face.box), boxOverlap(expectedBox(track, face.frame), face.box));
}

function lastOf<Face>(track: Track<Face>): Face {
  return track.faces.at(-1) ?? track.faces[0];
}

/** Where the face would be at `frame` if it went on as between its last two samples. */
function expectedBox<Face extends Sighting>(track: Track<Face>, frame: number): Box {
  const last = lastOf(track);
  const before = track.faces.at(-2);
  if (before === undefined) return last.box;
  const steps = (frame - last.frame) / (last.frame - before.frame);
  const moved = (side: keyof Box): number => last.box[side] + (last.box[side] - before.box[side]) * steps;
  return { left: moved('left'), top: moved('top'), right: moved('right'), bottom: moved('bottom') };
}

function isFirm<Face extends Sighting>(
  faces: readonly Face[],
  samples: readonly SampledFrame<Face>[],
  { cutFrames, framesPerSample }: TrackingRules,
): boolean {
  if (faces.length >= fewestSightings) return true;
  const frame = faces[0]?.frame ?? 0;
  const shotStart = cutFrames.findLast((cut) => cut <= frame) ?? 0;
  const shotEnd = cutFrames.find((cut) => cut > frame) ?? (samples.at(-1)?.frame ?? 0) + framesPerSample;
  return (shotEnd - shotStart) / framesPerSample <= fewestSightings;
}
