import type { PlacedSpan, SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { Box } from './camera-plan.ts';
import type { Span } from './face-sightings.ts';
import { shotsOfCut } from './shots-of-cut.ts';

/** A stretch of a cut and the part of the picture that is no bar. */
export type ShownArea = { readonly span: Span; readonly area: Box };

/** What of the picture is shown while a cut plays: all of it, or what lies between bars. Without a gap. Pure. */
export function shownAreas(
  analysis: SourceAnalysis,
  cut: { readonly start_ms: number; readonly end_ms: number },
): readonly ShownArea[] {
  const areas: ShownArea[] = [];
  for (const span of shotsOfCut(analysis, cut)) {
    const area = areaOfShot(analysis, span);
    const before = areas.at(-1);
    if (before !== undefined && isSame(before.area, area)) {
      areas[areas.length - 1] = { area, span: { ...before.span, endMs: span.endMs } };
    } else areas.push({ span, area });
  }
  return areas;
}

/** The part of the picture that a shot shows between its bars, all of it where there are none. Pure. */
export function areaOfShot(analysis: SourceAnalysis, { startMs, endMs }: Span): Box {
  const middleMs = (startMs + endMs) / 2;
  const between = analysis.picture.bar_areas.find(
    ({ start_ms, end_ms }) => start_ms <= middleMs && middleMs < end_ms,
  );
  return between === undefined
    ? { x: 0, y: 0, width: analysis.display_width, height: analysis.display_height }
    : placedBox(between, analysis);
}

/** A part of the picture in pixels as shown. Pure. */
export function placedBox({ left, top, right, bottom }: PlacedSpan, analysis: SourceAnalysis): Box {
  const across = analysis.display_width / 10_000;
  const down = analysis.display_height / 10_000;
  return { x: left * across, y: top * down, width: (right - left) * across, height: (bottom - top) * down };
}

function isSame(a: Box, b: Box): boolean {
  return a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
}
