import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { Box } from './camera-plan.ts';
import { type Face, facesWithin, type Span } from './face-sightings.ts';
import { shotsOfCut } from './shots-of-cut.ts';
import { areaOfShot } from './shown-areas.ts';
import { speakerTurns } from './speaker-turns.ts';

/** A stretch without a hard cut of the source or the camera, and whom it shows. */
export type Take = {
  readonly span: Span;
  readonly area: Box;
  /** Undefined where no face is seen. */
  readonly face: Face | undefined;
};

/** Beside a face, one that is so much lower belongs to somebody in the background. */
const leastHeight = 0.4;
/** A face is somebody when it is seen for this part of the longest seen face's time. */
const leastTime = 0.1;

/** Whom the camera follows during a cut, shot by shot and speaker by speaker, without a gap. Pure. */
export function takesOfCut(
  analysis: SourceAnalysis,
  cut: { readonly start_ms: number; readonly end_ms: number },
): readonly Take[] {
  return shotsOfCut(analysis, cut).flatMap((span): readonly Take[] => {
    const area = areaOfShot(analysis, span);
    const faces = mainFaces(facesWithin(analysis, span));
    if (faces.length === 0) return [{ span, area, face: undefined }];
    return speakerTurns(faces, span, analysis).map((turn) => ({ ...turn, area }));
  });
}

/** Those that somebody in the foreground has, the most prominent first. */
function mainFaces(faces: readonly Face[]): readonly Face[] {
  const heights = faces.map(({ sightings }) => middleHeight(sightings.map(({ box }) => box.height)));
  const times = faces.map(({ sightings }) => sightings.length);
  const [highest, longest] = [Math.max(0, ...heights), Math.max(0, ...times)];
  return faces
    .filter(
      (_, index) =>
        (heights[index] ?? 0) >= leastHeight * highest && (times[index] ?? 0) >= leastTime * longest,
    )
    .sort((a, b) => prominence(b) - prominence(a));
}

function middleHeight(heights: readonly number[]): number {
  return heights.toSorted((a, b) => a - b)[Math.floor(heights.length / 2)] ?? 0;
}

/** How much of a face there is: its area, each time it is seen. */
function prominence({ sightings }: Face): number {
  return sightings.reduce((sum, { box }) => sum + box.width * box.height, 0);
}
