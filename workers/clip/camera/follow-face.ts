import { cameraPath } from './camera-path.ts';
import type { Box, CameraKeyframe } from './camera-plan.ts';
import type { Face, FaceSighting, Span } from './face-sightings.ts';
import { coverBox, type Size } from './picture-pixels.ts';
import { reducePath } from './reduce-path.ts';

/** How near the camera comes to a face. */
export type Framing = 'whole-height' | 'near';

export type Shooting = {
  /** The part of the picture that is shown: all but its bars. */
  readonly area: Box;
  readonly output: Size;
  readonly framing: Framing;
};

const stepMs = 125;
/** A near face takes this part of the clip's height; its eyes are this far down. */
const faceShare = 0.28;
const eyesAt = 0.32;
const mostZoom = 2.5;
/** A box of fewer lines is too coarse to fill a clip. */
const leastBoxHeight = 240;
/** Boxes a second: how fast the camera comes nearer. */
const mostZoomSpeed = 0.5;
/** Where a face moves less than this part of the box, the camera stands still for the whole shot. */
const lockedRange = 0.3;
/** Air beside a face, in parts of its width. */
const sideAir = 0.12;
/** A lost face is waited for so long; then the camera comes back to the middle. */
const holdMs = 1500;

/** The camera's path while it follows one face through a part of a shot. Pure. */
export function followFace(face: Face, span: Span, shooting: Shooting): readonly CameraKeyframe[] {
  const times = stepTimes(span);
  const seen = times.map((ms) => sightingAt(face, ms));
  const heights = boxHeights(seen, shooting);
  const xs = centres(seen, times, heights, shooting);
  const ys = tops(seen, times, heights, shooting);
  const path = times.map((at_ms, step): CameraKeyframe => {
    const height = heights[step] ?? shooting.area.height;
    const width = (height * shooting.output.width) / shooting.output.height;
    return {
      at_ms,
      box: kept({ x: (xs[step] ?? 0) - width / 2, y: ys[step] ?? 0, width, height }, shooting.area),
    };
  });
  return reducePath(path);
}

function stepTimes({ startMs, endMs }: Span): readonly number[] {
  const count = Math.max(1, Math.ceil((endMs - startMs) / stepMs));
  return Array.from({ length: count + 1 }, (_, step) => Math.min(endMs, startMs + step * stepMs));
}

/** The face at a moment: between sightings on the way from one to the next, undefined when it is lost. */
function sightingAt({ sightings }: Face, ms: number): FaceSighting | undefined {
  const after = sightings.findIndex(({ atMs }) => atMs >= ms);
  const next = sightings[after];
  const last = sightings[after < 0 ? sightings.length - 1 : after - 1];
  if (last === undefined) return next !== undefined && next.atMs - ms <= holdMs ? next : undefined;
  if (next === undefined) return ms - last.atMs <= holdMs ? last : undefined;
  const gapMs = next.atMs - last.atMs;
  if (gapMs > 2 * holdMs)
    return ms - last.atMs <= holdMs ? last : next.atMs - ms <= holdMs ? next : undefined;
  const part = gapMs === 0 ? 0 : (ms - last.atMs) / gapMs;
  const mix = (a: number, b: number): number => a + (b - a) * part;
  return {
    atMs: ms,
    box: {
      x: mix(last.box.x, next.box.x),
      y: mix(last.box.y, next.box.y),
      width: mix(last.box.width, next.box.width),
      height: mix(last.box.height, next.box.height),
    },
    eyesX: mix(last.eyesX, next.eyesX),
    eyesY: mix(last.eyesY, next.eyesY),
    lips: undefined,
  };
}

type Seen = readonly (FaceSighting | undefined)[];

/** How high the box is at each step: of one height where the face keeps its size, as it mostly does. */
function boxHeights(seen: Seen, shooting: Shooting): readonly number[] {
  const whole = coverBox(shooting.area, shooting.output).height;
  const faces = seen.filter((each) => each !== undefined).map(({ box }) => box.height);
  if (shooting.framing === 'whole-height' || faces.length === 0) return seen.map(() => whole);
  const least = Math.min(whole, Math.max(whole / mostZoom, leastBoxHeight));
  const wanted = (faceHeight: number): number => Math.min(whole, Math.max(least, faceHeight / faceShare));
  const [small, usual, large] = [0.1, 0.5, 0.9].map((part) => quantile(faces, part));
  if ((large ?? 0) <= (small ?? 0) * 1.35) return seen.map(() => wanted(usual ?? 0));
  return speedLimited(
    cameraPath(
      filled(seen, ({ box }) => wanted(box.height), whole),
      { stepMs, boxLength: usual ?? whole },
    ),
    whole,
  );
}

/** Zoom is the whole height divided by the box's: it changes by no more than half a time a second. */
function speedLimited(heights: readonly number[], whole: number): readonly number[] {
  const most = (mostZoomSpeed * stepMs) / 1000;
  let zoom = whole / (heights[0] ?? whole);
  return heights.map((height) => {
    zoom += Math.min(most, Math.max(-most, whole / height - zoom));
    return whole / zoom;
  });
}

function centres(
  seen: Seen,
  times: readonly number[],
  heights: readonly number[],
  { area, output }: Shooting,
): readonly number[] {
  const widths = heights.map((height) => (height * output.width) / output.height);
  const boxLength = quantile(widths, 0.5);
  const extents = seen
    .filter((each) => each !== undefined)
    .map(({ box }) => ({
      middle: box.x + box.width / 2,
      from: box.x - box.width * sideAir,
      to: box.x + box.width * (1 + sideAir),
    }));
  const locked = lockedMiddle(extents, boxLength);
  if (locked !== undefined) return times.map(() => locked);
  const targets = filled(seen, ({ box }) => box.x + box.width / 2, area.x + area.width / 2);
  return cameraPath(targets, { stepMs, boxLength });
}

function tops(
  seen: Seen,
  times: readonly number[],
  heights: readonly number[],
  { area }: Shooting,
): readonly number[] {
  const boxLength = quantile(heights, 0.5);
  const isWhole = heights.every((height) => height >= area.height - 0.01);
  if (isWhole) return times.map(() => area.y);
  const wanted = filled(seen, ({ eyesY }) => eyesY, area.y + area.height * 0.4);
  const extents = seen
    .filter((each) => each !== undefined)
    .map(({ box, eyesY }) => ({
      middle: eyesY,
      from: box.y - box.height * 0.2,
      to: box.y + box.height * 1.05,
    }));
  const range =
    quantile(
      extents.map(({ middle }) => middle),
      0.98,
    ) -
    quantile(
      extents.map(({ middle }) => middle),
      0.02,
    );
  const eyes =
    range <= boxLength * 0.15
      ? wanted.map(() =>
          quantile(
            extents.map(({ middle }) => middle),
            0.5,
          ),
        )
      : cameraPath(wanted, { stepMs, boxLength });
  return eyes.map((y, step) => y - (heights[step] ?? boxLength) * eyesAt);
}

/** Where the camera can stand for the whole shot with the face in it; undefined where it must follow. */
function lockedMiddle(
  extents: readonly { readonly middle: number; readonly from: number; readonly to: number }[],
  boxLength: number,
): number | undefined {
  if (extents.length === 0) return undefined;
  const middles = extents.map(({ middle }) => middle);
  const [low, usual, high] = [0.02, 0.5, 0.98].map((part) => quantile(middles, part)) as [
    number,
    number,
    number,
  ];
  if (high - low > lockedRange * boxLength) return undefined;
  const from = quantile(
    extents.map((each) => each.from),
    0.02,
  );
  const to = quantile(
    extents.map((each) => each.to),
    0.98,
  );
  if (to - from > boxLength) return (from + to) / 2;
  return Math.min(from + boxLength / 2, Math.max(to - boxLength / 2, usual));
}

/** A value for each step: the last one is held where the face is lost, then `middle` takes its place. */
function filled(seen: Seen, measure: (sighting: FaceSighting) => number, middle: number): readonly number[] {
  const first = seen.find((each) => each !== undefined);
  if (first === undefined) return seen.map(() => middle);
  return seen.map((each) => (each === undefined ? middle : measure(each)));
}

/** The box moved, no further than needed, to lie in `area`. */
function kept(box: Box, area: Box): Box {
  return {
    ...box,
    x: Math.min(area.x + area.width - box.width, Math.max(area.x, box.x)),
    y: Math.min(area.y + area.height - box.height, Math.max(area.y, box.y)),
  };
}

/** The value that `part` of the values do not exceed. */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
