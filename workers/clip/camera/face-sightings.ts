import type { FaceTrack, SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { Box } from './camera-plan.ts';

/** Where a face was at a moment, in pixels of the picture as shown. */
export type FaceSighting = {
  readonly atMs: number;
  readonly box: Box;
  readonly eyesX: number;
  readonly eyesY: number;
  /** How far the lips are apart, in parts of the eye distance; undefined where the mesh did not see the face. */
  readonly lips: number | undefined;
};

/** One person's face in one shot. */
export type Face = { readonly sightings: readonly FaceSighting[] };

export type Span = { readonly startMs: number; readonly endMs: number };

/** A face that was lost and is seen again within this time, where it was, is the same. */
const longestAbsenceMs = 4000;
/** Boxes of one face before and after an absence have this much in common, intersection over union. */
const leastOverlap = 0.3;

/** The faces that are seen within `span`, which lies in one shot: tracks of one face joined. Pure. */
export function facesWithin(analysis: SourceAnalysis, span: Span): readonly Face[] {
  const tracks = analysis.picture.face_tracks
    .map((track) => sightingsOf(track, analysis).filter((each) => isWithin(each, span)))
    .filter((sightings) => sightings.length > 0)
    .sort((a, b) => (a[0]?.atMs ?? 0) - (b[0]?.atMs ?? 0));
  const faces: FaceSighting[][] = [];
  for (const track of tracks) {
    const [first] = track;
    const before = faces.findLast((face) => first !== undefined && isSameFace(face.at(-1), first));
    if (before === undefined) faces.push([...track]);
    else before.push(...track);
  }
  return faces.map((sightings) => ({ sightings }));
}

function isWithin({ atMs }: FaceSighting, { startMs, endMs }: Span): boolean {
  return atMs >= startMs - 0.5 && atMs < endMs - 0.5;
}

function isSameFace(last: FaceSighting | undefined, next: FaceSighting): boolean {
  if (last === undefined) return false;
  const absenceMs = next.atMs - last.atMs;
  return absenceMs > 0 && absenceMs <= longestAbsenceMs && overlap(last.box, next.box) > leastOverlap;
}

/** How much two boxes have in common: intersection over union, 0 to 1. Pure. */
export function overlap(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  if (width <= 0 || height <= 0) return 0;
  const shared = width * height;
  return shared / (a.width * a.height + b.width * b.height - shared);
}

function sightingsOf(track: FaceTrack, analysis: SourceAnalysis): readonly FaceSighting[] {
  const across = analysis.display_width / 10_000;
  const down = analysis.display_height / 10_000;
  const column = (name: keyof FaceTrack, row: number): number => track[name][row] ?? 0;
  return track.frames.map((frame, row): FaceSighting => {
    const [left, top] = [column('left', row) * across, column('top', row) * down];
    const lips = column('lips', row);
    return {
      atMs: (frame / analysis.picture.frames_per_second) * 1000,
      box: {
        x: left,
        y: top,
        width: column('right', row) * across - left,
        height: column('bottom', row) * down - top,
      },
      eyesX: column('eyes_x', row) * across,
      eyesY: column('eyes_y', row) * down,
      lips: lips < 0 ? undefined : lips / 1000,
    };
  });
}
