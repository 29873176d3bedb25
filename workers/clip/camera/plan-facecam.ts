import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { Box, CameraLayout, CameraScene } from './camera-plan.ts';
import { facesWithin, overlap, type Span } from './face-sightings.ts';
import { facecamLayout, insetOf } from './facecam-layout.ts';
import type { Size } from './picture-pixels.ts';
import { shotsOfCut } from './shots-of-cut.ts';
import { areaOfShot } from './shown-areas.ts';

type Cut = { readonly start_ms: number; readonly end_ms: number };

/** A layout is held for so long: a shorter shot keeps the layout of the one before. */
const shortestLayoutMs = 1500;

/** The scenes of a cut with a camera inset; null where none is found in the whole cut. Pure. */
export function facecamScenes(
  analysis: SourceAnalysis,
  cut: Cut,
  output: Size,
): readonly CameraScene[] | null {
  const shots = shotsOfCut(analysis, cut).map((span) => ({ span, inset: insetOf(analysis, span) }));
  if (shots.every(({ inset }) => inset === undefined)) return null;
  const scenes: { start_ms: number; end_ms: number; inset: Box | undefined; area: Box }[] = [];
  for (const { span, inset } of shots) {
    const before = scenes.at(-1);
    const isShort = span.endMs - span.startMs < shortestLayoutMs;
    const isSame = before !== undefined && isSameInset(before.inset, inset);
    if (before !== undefined && (isShort || isSame)) before.end_ms = span.endMs;
    else scenes.push({ start_ms: span.startMs, end_ms: span.endMs, inset, area: areaOfShot(analysis, span) });
  }
  return scenes.map(({ start_ms, end_ms, inset, area }): CameraScene => {
    const span = { startMs: start_ms, endMs: end_ms };
    const layout: CameraLayout =
      inset === undefined
        ? { kind: 'blurred', picture: area }
        : facecamLayout(inset, area, faceIn(analysis, span, inset), output);
    return { start_ms, end_ms, layout };
  });
}

function isSameInset(a: Box | undefined, b: Box | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return overlap(a, b) > 0.8;
}

/** Where the face usually is in the inset. */
function faceIn(analysis: SourceAnalysis, span: Span, inset: Box): Box | undefined {
  const boxes = facesWithin(analysis, span)
    .flatMap(({ sightings }) => sightings.map(({ box }) => box))
    .filter(({ x, y, width, height }) => {
      const [middleX, middleY] = [x + width / 2, y + height / 2];
      const isAcross = middleX > inset.x && middleX < inset.x + inset.width;
      return isAcross && middleY > inset.y && middleY < inset.y + inset.height;
    })
    .sort((a, b) => a.x - b.x);
  return boxes[Math.floor(boxes.length / 2)];
}
