import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { Box, CameraMode, CameraPlan, CameraScene } from './camera-plan.ts';
import { type Face, facesWithin, type Span } from './face-sightings.ts';
import { type Framing, followFace, type Shooting } from './follow-face.ts';
import { coverBox, type Size } from './picture-pixels.ts';
import { shotsOfCut } from './shots-of-cut.ts';
import { speakerTurns } from './speaker-turns.ts';

type Cut = { readonly start_ms: number; readonly end_ms: number };

/** Every clip's shape. */
const output: Size = { width: 1080, height: 1920 };

/**
 * Plans where the camera looks during a clip's cuts of a source. The same analysis, cuts and mode give the same
 * plan. Where a mode cannot apply (no camera inset is found), another is used and a note says so. Pure.
 */
export function planCamera(analysis: SourceAnalysis, cuts: readonly Cut[], mode: CameraMode): CameraPlan {
  switch (mode) {
    case 'standard':
      return { mode, scenes: cuts.map((cut) => wholePicture(cut, analysis)), notes: [] };
    case 'center-crop':
      return { mode, scenes: cuts.map((cut) => centreCrop(cut, analysis)), notes: [] };
    case 'speaker-zoom':
      return followed(analysis, cuts, { mode, framing: 'near' });
    case 'active-speaker':
      return followed(analysis, cuts, { mode, framing: 'whole-height' });
    case 'facecam':
      return {
        mode: 'standard',
        scenes: cuts.map((cut) => wholePicture(cut, analysis)),
        notes: ['No camera inset was found in the source: the whole picture is shown instead.'],
      };
  }
}

function wholePicture(cut: Cut, analysis: SourceAnalysis): CameraScene {
  return { ...cut, layout: { kind: 'blurred', picture: shownArea(analysis) } };
}

function centreCrop(cut: Cut, analysis: SourceAnalysis): CameraScene {
  const box = coverBox(shownArea(analysis), output);
  return { ...cut, layout: { kind: 'crop', path: [{ at_ms: cut.start_ms, box }] } };
}

function shownArea(analysis: SourceAnalysis): Box {
  return { x: 0, y: 0, width: analysis.display_width, height: analysis.display_height };
}

function followed(
  analysis: SourceAnalysis,
  cuts: readonly Cut[],
  { mode, framing }: { readonly mode: CameraMode; readonly framing: Framing },
): CameraPlan {
  const shooting: Shooting = { area: shownArea(analysis), output, framing };
  const scenes = cuts.flatMap((cut) =>
    shotsOfCut(analysis, cut).flatMap((shot) => shotScenes(analysis, shot, shooting)),
  );
  return { mode, scenes, notes: [] };
}

function shotScenes(analysis: SourceAnalysis, shot: Span, shooting: Shooting): readonly CameraScene[] {
  const faces = facesWithin(analysis, shot).toSorted((a, b) => prominence(b) - prominence(a));
  const turns = speakerTurns(faces, shot, analysis);
  if (turns.length === 0) {
    const path = [{ at_ms: shot.startMs, box: coverBox(shooting.area, shooting.output) }];
    return [{ start_ms: shot.startMs, end_ms: shot.endMs, layout: { kind: 'crop', path } }];
  }
  return turns.map(({ face, span }): CameraScene => {
    const path = followFace(face, span, shooting);
    return { start_ms: span.startMs, end_ms: span.endMs, layout: { kind: 'crop', path } };
  });
}

/** How much of a face there is: its area, each time it is seen. */
function prominence({ sightings }: Face): number {
  return sightings.reduce((sum, { box }) => sum + box.width * box.height, 0);
}
