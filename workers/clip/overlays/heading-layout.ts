import type { FontStack } from './font-store.ts';
import { directionMark } from './measure-text.ts';
import { colorOf, outlineOf } from './overlay-colors.ts';
import type { HeadingPlan } from './overlay-plan.ts';
import { frame, safeWidth, safeZone } from './safe-zone.ts';
import { lineBreaker } from './wrap-text.ts';

/** A heading set in lines; lengths in pixels of the clip's picture. */
export type HeadingLayout = {
  readonly lines: readonly string[];
  /** The em's size. */
  readonly size: number;
  readonly fill: string;
  /** What stands around the letters, or behind the lines: each line on a rounded pill of its own. */
  readonly ground:
    | { readonly kind: 'outline'; readonly color: string; readonly width: number }
    | { readonly kind: 'pill'; readonly color: string; readonly padding: number };
};

/** The largest size with which a heading takes at most so many lines. */
const steps: readonly { readonly size: number; readonly lines: number }[] = [
  ...[92, 88, 84, 80, 76].map((size) => ({ size, lines: 2 })),
  ...[72, 68, 64, 60].map((size) => ({ size, lines: 3 })),
  ...[56, 52, 48, 44].map((size) => ({ size, lines: 5 })),
];
/** Beyond five lines a heading is a paragraph: readable down to here, as many lines as the height takes. */
const paragraphSizes: readonly number[] = [44, 42, 40, 38, 36, 34, 32, 30, 28, 26, 24];
/** From one line to the next, in ems; what is drawn can be a little more where letters are tall. */
const linePitch = 1.3;

/** How a heading is set so that it fits `height` pixels and the safe width. Pure. */
export function headingLayout(plan: HeadingPlan, fonts: FontStack, height: number): HeadingLayout {
  const breakLines = lineBreaker(plan.text, fonts);
  const wrapped = (size: number) => breakLines((safeWidth - 2 * sidePadding(plan, size)) / size);
  for (const { size, lines } of steps) {
    const { lines: found, isBroken } = wrapped(size);
    if (found.length <= lines && !isBroken) return laid(plan, size, found);
  }
  const small = paragraphSizes.find((size) => wrapped(size).lines.length * size * linePitch <= height);
  const size = small ?? 24;
  return laid(plan, size, wrapped(size).lines);
}

function laid(plan: HeadingPlan, size: number, wrapped: readonly string[]): HeadingLayout {
  const mark = directionMark(plan.text);
  const lines = wrapped.map((line) => mark + line);
  if (plan.style === 'instagram') {
    const isBlack = plan.bg_color === 'black';
    const [fill, color] = isBlack ? ['#ffffff', '#000000'] : ['#000000', '#ffffff'];
    return { lines, size, fill, ground: { kind: 'pill', color, padding: pillPadding(size) } };
  }
  const fill = colorOf(plan.color);
  return {
    lines,
    size,
    fill,
    ground: { kind: 'outline', color: outlineOf(fill), width: outlineWidth(size) },
  };
}

function sidePadding(plan: HeadingPlan, size: number): number {
  return plan.style === 'instagram' ? pillPadding(size) : outlineWidth(size);
}

const pillPadding = (size: number): number => Math.round(size * 0.42);
const outlineWidth = (size: number): number => Math.round(size * 0.1);

/** Between a heading and captions that stand beside it. */
export const overlayGap = 36;

export type Placement = { readonly x: number; readonly y: number };

/**
 * Where a drawn heading stands: in the middle of the width; at the top or the bottom of the safe zone, or in the
 * picture's middle, unless it would leave the safe zone there or reach `captionsTop`. A heading at the bottom
 * stays there, and the captions go above it. As far as there is room, it stands below `belowPx`. Pure.
 */
export function headingPlace(
  position: string,
  drawn: { readonly width: number; readonly height: number },
  captionsTop: number | null,
  belowPx = 0,
): Placement {
  const x = Math.round((frame.width - drawn.width) / 2);
  const lowest = position === 'bottom' || captionsTop === null ? safeZone.bottom : captionsTop - overlayGap;
  const highest = Math.max(safeZone.top, belowPx);
  const wished = {
    top: highest,
    middle: Math.round((frame.height - drawn.height) / 2),
    bottom: safeZone.bottom - drawn.height,
  }[position];
  if (wished === undefined) throw new Error(`There is no heading position ${position}.`);
  return { x, y: Math.max(safeZone.top, Math.min(Math.max(highest, wished), lowest - drawn.height)) };
}
