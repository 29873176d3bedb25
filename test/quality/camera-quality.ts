import { join } from 'node:path';
import type { CameraPlan } from '#workers/clip/camera/camera-plan.ts';
import { overlap } from '#workers/clip/camera/face-sightings.ts';
import { planCamera } from '#workers/clip/camera/plan-camera.ts';
import { placedBox } from '#workers/clip/camera/shown-areas.ts';
import type { SourceAnalysis } from '#workers/media/analysis/analysis-schema.ts';
import type { Figure } from './analysis-quality.ts';
import {
  faceInsideShare,
  motionOnStillFaces,
  reversalsPerSecond,
  shownBox,
  snappedCuts,
} from './camera-measures.ts';
import { type CameraTruth, readCameraTruth } from './camera-truth.ts';
import { keptAnalysis } from './kept-analysis.ts';
import { type Programme, readTruth } from './media-manifest.ts';

/** The modes whose camera follows faces. */
const following = ['active-speaker', 'speaker-zoom'] as const;

/** Measures cameras planned for whole videos; `only` names files to measure, all where it is empty. */
export async function measureCamera(folder: string, only: readonly string[]): Promise<readonly Figure[]> {
  const truths = await readCameraTruth(folder);
  const figures: Figure[] = [];
  for (const truth of truths.filter(
    ({ file }) => only.length === 0 || only.some((part) => file.includes(part)),
  )) {
    const analysis = await keptAnalysis(join(folder, truth.file));
    figures.push(...(await follows(folder, truth, analysis)), ...speakerFigures(truth, analysis));
    figures.push(facecamFigure(truth, analysis));
  }
  return figures;
}

function wholeCut(analysis: SourceAnalysis): { start_ms: number; end_ms: number } {
  return { start_ms: 0, end_ms: analysis.duration_ms };
}

async function follows(
  folder: string,
  { file }: CameraTruth,
  analysis: SourceAnalysis,
): Promise<readonly Figure[]> {
  const hasFaces = analysis.picture.face_tracks.length > 0;
  const programme = await readTruth(join(folder, file));
  return following.flatMap((mode): readonly Figure[] => {
    const plan = planCamera(analysis, [wholeCut(analysis)], mode);
    const what = `${file}: ${mode}`;
    const still = motionOnStillFaces(plan, analysis);
    const bytes = JSON.stringify(plan).length / (analysis.duration_ms / 60_000);
    return [
      ...(hasFaces
        ? [
            {
              what: `${what}, whole face in view`,
              measured: percent(faceInsideShare(plan, analysis)),
              bar: '≥ 95%',
            },
          ]
        : []),
      { what: `${what}, reversals a second`, measured: reversalsPerSecond(plan).toFixed(3), bar: '≤ 0.15' },
      ...(still.scenes > 0
        ? [
            {
              what: `${what}, motion on ${still.scenes} still faces`,
              measured: `${still.pixels.toFixed(1)} px`,
              bar: mode === 'active-speaker' ? '0 px' : '0 px but for punch-ins',
            },
          ]
        : []),
      ...(programme === undefined ? [] : [snapFigure(what, plan, analysis, programme)]),
      { what: `${what}, size of the plan`, measured: `${(bytes / 1000).toFixed(1)} kB a minute`, bar: '' },
    ];
  });
}

function snapFigure(
  what: string,
  plan: CameraPlan,
  analysis: SourceAnalysis,
  { segments }: Programme,
): Figure {
  const cuts = segments.slice(1).map(({ start }) => start);
  const snapped = snappedCuts(plan, cuts, analysis.frames_per_second);
  return { what: `${what}, cuts with a scene's start`, measured: `${snapped} of ${cuts.length}`, bar: 'all' };
}

const stepMs = 40;

/** Where the manifest says in which half the speaker sits. */
function speakerFigures({ file, segments }: CameraTruth, analysis: SourceAnalysis): readonly Figure[] {
  const labelled = segments.filter(({ active_face_x }) => active_face_x !== undefined);
  if (labelled.length === 0) return [];
  const plan = planCamera(analysis, [wholeCut(analysis)], 'active-speaker');
  const isRight = (ms: number, half: string | undefined): boolean => {
    const box = shownBox(plan, ms);
    if (box === undefined) return false;
    return box.x + box.width / 2 < analysis.display_width / 2 === (half === 'left half');
  };
  let [right, all, slowestMs] = [0, 0, 0];
  for (const { start, end, active_face_x: half } of labelled) {
    let foundMs: number | undefined;
    for (let ms = start * 1000; ms < Math.min(end * 1000, analysis.duration_ms); ms += stepMs) {
      all += 1;
      if (!isRight(ms, half)) continue;
      right += 1;
      foundMs ??= ms - start * 1000;
    }
    slowestMs = Math.max(slowestMs, foundMs ?? Infinity);
  }
  return [
    { what: `${file}: the right speaker`, measured: percent(right / all), bar: '≥ 90%' },
    { what: `${file}: slowest switch`, measured: `${slowestMs} ms`, bar: '≤ 800 ms' },
  ];
}

function facecamFigure({ file, facecam_box: truth }: CameraTruth, analysis: SourceAnalysis): Figure {
  const [found] = analysis.picture.insets;
  if (truth === undefined) {
    const { mode } = planCamera(analysis, [wholeCut(analysis)], 'facecam');
    return { what: `${file}: facecam`, measured: mode === 'facecam' ? 'invented' : 'none', bar: 'none' };
  }
  const box = { x: truth.x, y: truth.y, width: truth.w, height: truth.h };
  const shared = found === undefined ? 0 : overlap(placedBox(found, analysis), box);
  return { what: `${file}: facecam's overlap with the truth`, measured: shared.toFixed(2), bar: '≥ 0.7' };
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)}%`;
}
