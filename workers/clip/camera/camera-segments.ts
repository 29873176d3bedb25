import type { Box, CameraLayout } from './camera-plan.ts';
import { boxAt, type FrameBox, type SceneFrames, within } from './scene-frames.ts';

/** A movement without a jump; its first frame is the border to the one before. */
export type Movement = { readonly from: number; readonly path: readonly FrameBox[] };

type Still = Exclude<CameraLayout, { kind: 'crop' }>;

/** What one chain of filters shows. Frames are numbers of the clip's frames. */
export type CameraSegment = {
  readonly from: number;
  /** The first frame of the next segment; undefined for the last. */
  readonly to: number | undefined;
  readonly shows:
    | Still
    | { readonly kind: 'fixed'; readonly box: Box }
    /** A box of constant size that moves and jumps. */
    | { readonly kind: 'moving'; readonly movements: readonly Movement[] }
    /** A box whose size changes. */
    | { readonly kind: 'zooming'; readonly movement: Movement };
};

type Shown = CameraSegment['shows'];
type Frames = { readonly from: number; readonly to: number };

/** A zoom is rendered in pieces over which the size changes no more than this: each enlarges only what it shows. */
const mostZoomInPiece = 1.2;
/** Boxes that differ less, in pixels, are of one size. */
const sameSize = 0.01;

/**
 * The segments that scenes are rendered in: as few as possible, since each is a chain of filters. Scenes that
 * only jump between boxes of one size are one chain. Pure.
 */
export function cameraSegments(scenes: readonly SceneFrames[]): readonly CameraSegment[] {
  const parts: { from: number; shows: Shown }[] = [];
  for (const part of scenes.flatMap(partsOf)) {
    const before = parts.at(-1);
    const joined = before === undefined ? undefined : join(before, part);
    if (before === undefined || joined === undefined) parts.push({ ...part });
    else before.shows = joined;
  }
  return parts.map((part, index) => ({ ...part, to: parts[index + 1]?.from }));
}

type Part = { readonly from: number; readonly shows: Shown };

function partsOf({ from, to, layout, path }: SceneFrames): readonly Part[] {
  if (layout.kind !== 'crop') return [{ from, shows: layout }];
  const inside = within(path, { from, to });
  const [first] = inside;
  if (first === undefined) throw new Error('a crop needs at least one keyframe');
  return inside.every(({ box }) => isSameSize(box, first.box))
    ? [{ from, shows: shown(inside, from) }]
    : zoomPieces(inside, { from, to });
}

/** Cuts a path where its size has changed enough; stretches of one size are told apart from true zooms. */
function zoomPieces(path: readonly FrameBox[], { from, to }: Frames): readonly Part[] {
  const borders = new Set([from]);
  let size = boxAt(path, from).height;
  let wasZooming: boolean | undefined;
  for (let frame = from; frame < to - 1; frame += 1) {
    const [now, next] = [boxAt(path, frame), boxAt(path, frame + 1)];
    const isZooming = !isSameSize(now, next);
    const ratio = Math.max(next.height / size, size / next.height);
    if ((wasZooming !== undefined && isZooming !== wasZooming) || ratio > mostZoomInPiece) {
      borders.add(frame);
      size = now.height;
    }
    wasZooming = isZooming;
  }
  const starts = [...borders];
  return starts.map((start, index) => {
    const piece = { from: start, to: starts[index + 1] ?? to };
    return { from: start, shows: shown(within(path, piece), start) };
  });
}

function shown(path: readonly FrameBox[], from: number): Shown {
  const first = boxAt(path, from);
  if (path.every(({ box }) => isSameBox(box, first))) return { kind: 'fixed', box: first };
  if (path.every(({ box }) => isSameSize(box, first))) return { kind: 'moving', movements: [{ from, path }] };
  return { kind: 'zooming', movement: { from, path } };
}

/** Both as one chain of filters; undefined where they need one each. */
function join(before: Part, next: Part): Shown | undefined {
  const [one, other] = [before.shows, next.shows];
  if (isStill(one) && isStill(other)) return JSON.stringify(one) === JSON.stringify(other) ? one : undefined;
  if (one.kind === 'fixed' && other.kind === 'fixed' && isSameBox(one.box, other.box)) return one;
  const movements = [...movementsOf(before), ...movementsOf(next)];
  const sizes = movements.flatMap(({ path }) => path.slice(0, 1).map(({ box }) => box));
  const [size] = sizes;
  const isOneSize = size !== undefined && sizes.length >= 2 && sizes.every((each) => isSameSize(each, size));
  const bothMove = movementsOf(before).length > 0 && movementsOf(next).length > 0;
  return isOneSize && bothMove ? { kind: 'moving', movements } : undefined;
}

/** What a chain that moves a box of one size shows; empty for all other layouts. */
function movementsOf({ from, shows }: Part): readonly Movement[] {
  if (shows.kind === 'moving') return shows.movements;
  return shows.kind === 'fixed' ? [{ from, path: [{ frame: from, box: shows.box }] }] : [];
}

function isStill(shows: Shown): shows is Still {
  return shows.kind === 'blurred' || shows.kind === 'stacked';
}

function isSameBox(a: Box, b: Box): boolean {
  return isSameSize(a, b) && Math.abs(a.x - b.x) < sameSize && Math.abs(a.y - b.y) < sameSize;
}

function isSameSize(a: Box, b: Box): boolean {
  return Math.abs(a.width - b.width) < sameSize && Math.abs(a.height - b.height) < sameSize;
}
