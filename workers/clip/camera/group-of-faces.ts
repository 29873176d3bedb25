import type { Box } from './camera-plan.ts';
import type { Face, FaceSighting, Span } from './face-sightings.ts';

/** Width by height of the largest box that fills a clip. */
const clipShape = 9 / 16;

/**
 * As many of several faces as a clip can show whole, as one face that stands still: where nobody is known to
 * speak, a group is looked at rather than one of it. Of equal groups, the one nearest to the middle. Pure.
 */
export function groupOf(faces: readonly Face[], span: Span, area: Box): Face {
  const boxes = faces.map(middleBox).sort((a, b) => a.x - b.x);
  const width = Math.min(area.width, area.height * clipShape);
  const middle = area.x + area.width / 2;
  let best: { box: Box; count: number } | undefined;
  for (const [first, start] of boxes.entries()) {
    const held = boxes.slice(first).filter((box) => box.x + box.width <= start.x + width);
    const box = around(held.length === 0 ? [start] : held);
    const isNearer = Math.abs(centre(box) - middle) < Math.abs(centre(best?.box ?? box) - middle);
    const isLarger = held.length > (best?.count ?? 0) || (held.length === best?.count && isNearer);
    if (best === undefined || isLarger) best = { box, count: held.length };
  }
  const box = best?.box ?? area;
  const seen = (atMs: number): FaceSighting => {
    return { atMs, box, eyesX: centre(box), eyesY: box.y + box.height * 0.4, lips: undefined };
  };
  return { sightings: [seen(span.startMs), seen(span.endMs)] };
}

function centre(box: Box): number {
  return box.x + box.width / 2;
}

/** Where a face is at the middle of its sightings. */
function middleBox({ sightings }: Face): Box {
  const box = sightings[Math.floor(sightings.length / 2)]?.box;
  return box ?? { x: 0, y: 0, width: 0, height: 0 };
}

function around(boxes: readonly Box[]): Box {
  const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}
