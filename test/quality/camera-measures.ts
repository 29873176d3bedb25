import type { Box, CameraPlan, CameraScene } from '#workers/clip/camera/camera-plan.ts';
import { type FaceSighting, facesWithin } from '#workers/clip/camera/face-sightings.ts';
import { boxBetween } from '#workers/clip/camera/reduce-path.ts';
import type { SourceAnalysis } from '#workers/media/analysis/analysis-schema.ts';

/** Numbers on a plan that was made for a whole video from beginning to end. */

/** The scene that plays at a moment of the source. */
export function sceneAt(plan: CameraPlan, ms: number): CameraScene | undefined {
  return plan.scenes.find(({ start_ms, end_ms }) => start_ms <= ms && ms < end_ms);
}

/** The box that a following camera shows at a moment; undefined for other layouts. */
export function shownBox(plan: CameraPlan, ms: number): Box | undefined {
  const layout = sceneAt(plan, ms)?.layout;
  if (layout?.kind !== 'crop') return undefined;
  const after = layout.path.findIndex(({ at_ms }) => at_ms > ms);
  const last = layout.path[after < 0 ? layout.path.length - 1 : Math.max(0, after - 1)];
  const next = layout.path[after];
  if (last === undefined) return undefined;
  return next === undefined || next === last ? last.box : boxBetween(last, next, ms);
}

/** The part of the sampled moments with faces at which a whole face is in view. */
export function faceInsideShare(plan: CameraPlan, analysis: SourceAnalysis): number {
  const sightings = allSightings(analysis);
  const moments = [...new Set(sightings.map(({ atMs }) => atMs))].filter((ms) => shownBox(plan, ms));
  const inside = moments.filter((ms) => {
    const shown = shownBox(plan, ms);
    return sightings.some(({ atMs, box }) => atMs === ms && shown !== undefined && holds(shown, box));
  });
  return moments.length === 0 ? 1 : inside.length / moments.length;
}

function allSightings(analysis: SourceAnalysis): readonly FaceSighting[] {
  const span = { startMs: 0, endMs: analysis.duration_ms };
  return facesWithin(analysis, span).flatMap(({ sightings }) => sightings);
}

/** A pixel of rounding is no cut face. */
function holds(outer: Box, inner: Box): boolean {
  return (
    inner.x >= outer.x - 1 &&
    inner.y >= outer.y - 1 &&
    inner.x + inner.width <= outer.x + outer.width + 1 &&
    inner.y + inner.height <= outer.y + outer.height + 1
  );
}

const stepMs = 40;

/** How often a second the camera turns back on its way, up and down or left and right. */
export function reversalsPerSecond(plan: CameraPlan): number {
  let reversals = 0;
  let seconds = 0;
  for (const { start_ms, end_ms, layout } of plan.scenes) {
    seconds += (end_ms - start_ms) / 1000;
    if (layout.kind !== 'crop') continue;
    const boxes: Box[] = [];
    for (let ms = start_ms; ms < end_ms; ms += stepMs) {
      const box = shownBox(plan, ms);
      if (box !== undefined) boxes.push(box);
    }
    reversals += turns(boxes.map(({ x, width }) => x + width / 2));
    reversals += turns(boxes.map(({ y, height }) => y + height / 2));
  }
  return seconds === 0 ? 0 : reversals / seconds;
}

/** Changes of direction after a way of at least a pixel. */
function turns(positions: readonly number[]): number {
  let count = 0;
  let direction = 0;
  let turningPoint = positions[0] ?? 0;
  for (const position of positions) {
    const way = position - turningPoint;
    if (Math.sign(way) === direction) turningPoint = position;
    else if (Math.abs(way) >= 1) {
      if (direction !== 0) count += 1;
      direction = Math.sign(way);
      turningPoint = position;
    }
  }
  return count;
}

/** How far the camera moves, in pixels, in the scenes whose face keeps still; and how many those are. */
export function motionOnStillFaces(
  plan: CameraPlan,
  analysis: SourceAnalysis,
): { readonly pixels: number; readonly scenes: number } {
  let [pixels, scenes] = [0, 0];
  for (const { start_ms, end_ms, layout } of plan.scenes) {
    const faces = facesWithin(analysis, { startMs: start_ms, endMs: end_ms });
    const [only] = faces;
    if (layout.kind !== 'crop' || faces.length !== 1 || only === undefined || !isStill(only.sightings))
      continue;
    const [first] = layout.path;
    scenes += 1;
    for (const { box } of layout.path) {
      pixels = Math.max(pixels, Math.abs(box.x - (first?.box.x ?? 0)), Math.abs(box.y - (first?.box.y ?? 0)));
    }
  }
  return { pixels, scenes };
}

/** Moves by less than a tenth of its width. */
function isStill(sightings: readonly FaceSighting[]): boolean {
  const middles = sightings.map(({ box }) => box.x + box.width / 2).sort((a, b) => a - b);
  const range = (middles.at(-1) ?? 0) - (middles[0] ?? 0);
  return range < 0.1 * (sightings[0]?.box.width ?? 0);
}

/** How many cuts of the source have a scene that starts within a frame of them. */
export function snappedCuts(
  plan: CameraPlan,
  cutSeconds: readonly number[],
  framesPerSecond: number,
): number {
  const starts = plan.scenes.map(({ start_ms }) => start_ms);
  const frameMs = 1000 / framesPerSecond;
  return cutSeconds.filter((cut) => starts.some((start) => Math.abs(start - cut * 1000) < 1.5 * frameMs))
    .length;
}
