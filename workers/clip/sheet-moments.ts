import type { FaceTrack, SourceAnalysis } from '../media/analysis/analysis-schema.ts';
import type { Box } from './camera/camera-plan.ts';
import type { Cut } from './choose/chosen-clip.ts';
import { playedMs, sourceTimeAt } from './clip-timeline.ts';
import type { SeenFaces } from './contract.ts';

/** How many frames each of a clip's sheets shows. */
export const sheetFrames = 12;

/** The moments of a clip, in milliseconds from its start, that its sheets show: the middles of equal parts. Pure. */
export function sheetMoments(durationMs: number): readonly number[] {
  return Array.from({ length: sheetFrames }, (_, index) => ((index + 0.5) / sheetFrames) * durationMs);
}

/** The faces that were seen at the moments that a clip's sheets show. Pure. */
export function facesOnSheet(analysis: SourceAnalysis, cuts: readonly Cut[]): readonly SeenFaces[] {
  return sheetMoments(playedMs(cuts)).map((clipMs) => {
    const atMs = Math.round(sourceTimeAt(cuts, clipMs));
    return { at_ms: atMs, boxes: facesAt(analysis, atMs) };
  });
}

function facesAt(analysis: SourceAnalysis, atMs: number): readonly Box[] {
  const { frames_per_second: rate, frames_per_sample: step, face_tracks: tracks } = analysis.picture;
  const sample = Math.round(((atMs / 1000) * rate) / step) * step;
  return tracks.flatMap((track) => {
    const row = track.frames.indexOf(sample);
    return row < 0 ? [] : [faceBox(track, row, analysis)];
  });
}

function faceBox(track: FaceTrack, row: number, analysis: SourceAnalysis): Box {
  const across = (column: readonly number[]): number =>
    ((column[row] ?? 0) / 10_000) * analysis.display_width;
  const down = (column: readonly number[]): number => ((column[row] ?? 0) / 10_000) * analysis.display_height;
  const [x, y] = [across(track.left), down(track.top)];
  const whole = { x, y, width: across(track.right) - x, height: down(track.bottom) - y };
  return {
    x: Math.round(whole.x),
    y: Math.round(whole.y),
    width: Math.round(whole.width),
    height: Math.round(whole.height),
  };
}
