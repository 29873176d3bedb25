import { cameraPath } from './camera-path.ts';
import type { Box, CameraKeyframe } from './camera-plan.ts';
import { faceAt, pathTimes, type SeenFace, stepMs } from './face-at.ts';
import type { Face, Span } from './face-sightings.ts';
import { type AxisFollowing, followAxis, quantile } from './follow-axis.ts';
import { coverBox, type Size } from './picture-pixels.ts';
import { type PunchIn, punchFactor } from './punch-ins.ts';
import { reducePath } from './reduce-path.ts';

/** How near the camera comes to a face. */
export type Framing = 'whole-height' | 'near';

export type Shooting = {
  /** The part of the picture that is shown: all but its bars. */
  readonly area: Box;
  readonly output: Size;
  readonly framing: Framing;
  readonly punches: readonly PunchIn[];
};

/** A near face takes this part of the clip's height; its eyes are this far down, which leaves 12% over the hair. */
const faceShare = 0.28;
const eyesAt = 0.33;
const mostZoom = 2.5;
/** A box of fewer lines is too coarse to fill a clip. */
const leastBoxHeight = 240;
/** Faces that take more of the clip's height are not punched in on. */
const mostShareForPunch = 0.42;
/** How fast the camera comes nearer or goes back, in times a second. */
const mostZoomSpeed = 0.5;
/** Faces whose size varies less keep the camera at one distance. */
const mostSizeRange = 1.35;
/** Air around a face, in parts of its box: beside it, over it for hair, below it. */
const air = { side: 0.12, over: 0.3, below: 0.1 };

/** The camera's path while it follows one face through a part of a shot. Pure. */
export function followFace(face: Face, span: Span, shooting: Shooting): readonly CameraKeyframe[] {
  const { area, output } = shooting;
  const times = pathTimes(span);
  const seen = faceAt(face, times);
  const heights = boxHeights(seen, times, shooting);
  const shape = output.width / output.height;
  const across: AxisFollowing = {
    stepMs,
    boxLengths: heights.map((height) => height * shape),
    aimedAt: 0.5,
    middle: area.x + area.width / 2,
  };
  const down: AxisFollowing = {
    stepMs,
    boxLengths: heights,
    aimedAt: eyesAt,
    middle: area.y + area.height * 0.42,
  };
  const xs = followAxis(
    seen.map((each) => each && { aim: each.box.x + each.box.width / 2, ...extentAcross(each) }),
    across,
  );
  const ys = followAxis(
    seen.map((each) => each && { aim: each.eyesY, ...extentDown(each) }),
    down,
  );
  return reducePath(
    times.map((at_ms, step): CameraKeyframe => {
      const height = heights[step] ?? area.height;
      const box = { x: xs[step] ?? area.x, y: ys[step] ?? area.y, width: height * shape, height };
      return { at_ms, box: keptIn(area, box) };
    }),
  );
}

function extentAcross({ box }: SeenFace): { from: number; to: number } {
  return { from: box.x - box.width * air.side, to: box.x + box.width * (1 + air.side) };
}

function extentDown({ box }: SeenFace): { from: number; to: number } {
  return { from: box.y - box.height * air.over, to: box.y + box.height * (1 + air.below) };
}

/** How high the box is at each step: of one height where the face keeps its size, as it mostly does. */
function boxHeights(
  seen: readonly (SeenFace | undefined)[],
  times: readonly number[],
  { area, output, framing, punches }: Shooting,
): readonly number[] {
  const whole = coverBox(area, output).height;
  const faces = seen.filter((each) => each !== undefined).map(({ box }) => box.height);
  if (framing === 'whole-height' || faces.length === 0) return times.map(() => whole);
  const least = Math.min(whole, Math.max(whole / mostZoom, leastBoxHeight));
  const wanted = (faceHeight: number): number => Math.min(whole, Math.max(least, faceHeight / faceShare));
  const usual = wanted(quantile(faces, 0.5));
  const isOneSize =
    faces.length === seen.length && quantile(faces, 0.9) <= quantile(faces, 0.1) * mostSizeRange;
  const plain = isOneSize
    ? times.map(() => usual)
    : zoomLimited(
        cameraPath(
          seen.map((each) => (each === undefined ? whole : wanted(each.box.height))),
          { stepMs, boxLength: usual },
        ),
        whole,
      );
  // A face that fills the picture has no need of a camera that comes nearer.
  if (quantile(faces, 0.9) > mostShareForPunch * usual) return plain;
  return plain.map((height, step) => Math.max(least, height * punchFactor(punches, times[step] ?? 0)));
}

/** Zoom is the whole height divided by the box's. */
function zoomLimited(heights: readonly number[], whole: number): readonly number[] {
  const most = (mostZoomSpeed * stepMs) / 1000;
  let zoom = whole / (heights[0] ?? whole);
  return heights.map((height) => {
    zoom += Math.min(most, Math.max(-most, whole / height - zoom));
    return whole / zoom;
  });
}

/** The box moved, no further than needed, to lie in `area`. */
function keptIn(area: Box, box: Box): Box {
  return {
    ...box,
    x: Math.min(area.x + area.width - box.width, Math.max(area.x, box.x)),
    y: Math.min(area.y + area.height - box.height, Math.max(area.y, box.y)),
  };
}
