import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { Box } from './camera-plan.ts';
import { type Face, facesWithin, type Span } from './face-sightings.ts';
import { groupOf } from './group-of-faces.ts';
import { shotsOfCut } from './shots-of-cut.ts';
import { areaOfShot } from './shown-areas.ts';
import { speakerTurns } from './speaker-turns.ts';

/** A stretch without a hard cut of the source or the camera, and whom it shows. */
export type Take = {
  readonly span: Span;
  readonly area: Box;
  /** Undefined where no face is seen. */
  readonly face: Face | undefined;
  /** The face stands for several, which are shown together from afar. */
  readonly isGroup: boolean;
};

/** Beside a face, one that is so much lower belongs to somebody in the background. */
const leastHeight = 0.4;
/** A face is somebody when it is seen for this part of the longest seen face's time. */
const leastTime = 0.1;

/** A shot that begins without a face for so long begins with a take of its own. */
const longestLeadMs = 1500;

/** Whom the camera follows during a cut, shot by shot and speaker by speaker, without a gap. Pure. */
export function takesOfCut(
  analysis: SourceAnalysis,
  cut: { readonly start_ms: number; readonly end_ms: number },
): readonly Take[] {
  return shotsOfCut(analysis, cut).flatMap((span): readonly Take[] => {
    const area = areaOfShot(analysis, span);
    const faces = mainFaces(facesWithin(analysis, span));
    if (faces.length === 0) return [{ span, area, face: undefined, isGroup: false }];
    const lead = leadOf(faces, span);
    const rest = { startMs: lead.endMs, endMs: span.endMs };
    const takes = speakerTurns(faces, rest, analysis).map((turn): Take => {
      const face = turn.face ?? groupOf(faces, rest, area);
      return { span: turn.span, area, face, isGroup: turn.face === undefined };
    });
    const leadTake: Take = { span: lead, area, face: undefined, isGroup: false };
    return lead.endMs > lead.startMs ? [leadTake, ...takes] : takes;
  });
}

/** What of a shot comes before its first face, such as a title or somebody far away; empty where that is short. */
function leadOf(faces: readonly Face[], { startMs }: Span): Span {
  const firstMs = Math.min(...faces.map(({ sightings }) => sightings[0]?.atMs ?? startMs));
  return { startMs, endMs: firstMs - startMs > longestLeadMs ? firstMs : startMs };
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
