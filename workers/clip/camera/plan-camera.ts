import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { CameraMode, CameraPlan, CameraScene } from './camera-plan.ts';
import { type Framing, followFace } from './follow-face.ts';
import { coverBox, type Size } from './picture-pixels.ts';
import { facecamScenes } from './plan-facecam.ts';
import { punchIns } from './punch-ins.ts';
import { shownAreas } from './shown-areas.ts';
import { type Take, takesOfCut } from './takes-of-cut.ts';

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
      return { mode, scenes: cuts.flatMap((cut) => wholePicture(analysis, cut)), notes: [] };
    case 'center-crop':
      return { mode, scenes: cuts.flatMap((cut) => centreCrop(analysis, cut)), notes: [] };
    case 'speaker-zoom':
      return { mode, ...followed(analysis, cuts, 'near') };
    case 'active-speaker':
      return { mode, ...followed(analysis, cuts, 'whole-height') };
    case 'facecam':
      return facecam(analysis, cuts);
  }
}

function wholePicture(analysis: SourceAnalysis, cut: Cut): readonly CameraScene[] {
  return shownAreas(analysis, cut).map(({ span, area }) => ({
    start_ms: span.startMs,
    end_ms: span.endMs,
    layout: { kind: 'blurred', picture: area },
  }));
}

function centreCrop(analysis: SourceAnalysis, cut: Cut): readonly CameraScene[] {
  return shownAreas(analysis, cut).map(({ span, area }) => ({
    start_ms: span.startMs,
    end_ms: span.endMs,
    layout: { kind: 'crop', path: [{ at_ms: span.startMs, box: coverBox(area, output) }] },
  }));
}

function followed(
  analysis: SourceAnalysis,
  cuts: readonly Cut[],
  framing: Framing,
): Pick<CameraPlan, 'scenes' | 'notes'> {
  const played = withClipTimes(cuts.flatMap((cut) => takesOfCut(analysis, cut)));
  const punches = framing === 'near' ? punchIns(analysis, played) : [];
  const scenes = played.map(({ span, area, face, isGroup }, index): CameraScene => {
    const shooting = {
      area,
      output,
      framing: isGroup ? 'whole-height' : framing,
      punches: punches[index] ?? [],
    } as const;
    const path =
      face === undefined
        ? [{ at_ms: span.startMs, box: coverBox(area, output) }]
        : followFace(face, span, shooting);
    return { start_ms: span.startMs, end_ms: span.endMs, layout: { kind: 'crop', path } };
  });
  const isFaceless = played.every(({ face }) => face === undefined);
  return { scenes, notes: isFaceless ? ['No face was found in this clip: its middle is shown.'] : [] };
}

function withClipTimes(takes: readonly Take[]): readonly (Take & { readonly clipStartMs: number })[] {
  let clipStartMs = 0;
  return takes.map((take) => {
    const start = clipStartMs;
    clipStartMs += take.span.endMs - take.span.startMs;
    return { ...take, clipStartMs: start };
  });
}

function facecam(analysis: SourceAnalysis, cuts: readonly Cut[]): CameraPlan {
  const found = cuts.map((cut) => facecamScenes(analysis, cut, output));
  if (found.every((scenes) => scenes === null)) {
    const notes = ['No camera inset was found in this clip: the whole picture is shown, as in `standard`.'];
    return { mode: 'standard', scenes: cuts.flatMap((cut) => wholePicture(analysis, cut)), notes };
  }
  const scenes = found.flatMap((each, index) => {
    const cut = cuts[index];
    return each ?? (cut === undefined ? [] : wholePicture(analysis, cut));
  });
  return { mode: 'facecam', scenes, notes: [] };
}
