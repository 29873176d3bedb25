import { cameraPath } from './camera-path.ts';

/** What the camera looks at along one axis: a point, and what must be seen around it. */
export type Aim = { readonly aim: number; readonly from: number; readonly to: number };

export type AxisFollowing = {
  readonly stepMs: number;
  /** The box's side along this axis, at each step. */
  readonly boxLengths: readonly number[];
  /** Where in the box the point should be: 0 at its start, 1 at its end. */
  readonly aimedAt: number;
  /** What is looked at while there is nothing to look at. */
  readonly middle: number;
};

/** Where the point moves less than this part of the box, and nothing leaves it, the camera stands still. */
const lockedRange = 0.45;
/** The outermost sightings do not count: a hand before the face, one wrong detection. */
const outermost = 0.02;

/**
 * Where the box starts at each step, along one axis: the camera stands still for the whole shot where it can
 * (as AutoFlip's does), and follows smoothly where it cannot. Pure.
 */
export function followAxis(aims: readonly (Aim | undefined)[], following: AxisFollowing): readonly number[] {
  const { stepMs, boxLengths, aimedAt, middle } = following;
  const boxLength = quantile(boxLengths, 0.5);
  const seen = aims.filter((each) => each !== undefined);
  const locked = lockedAim(seen, { boxLength: Math.min(...boxLengths), aimedAt });
  const isLost = seen.length < aims.length;
  if (locked !== undefined && !isLost) return boxLengths.map((length) => locked - aimedAt * length);
  const targets = aims.map((each) => (each === undefined ? middle : (locked ?? each.aim)));
  const path = cameraPath(targets, { stepMs, boxLength });
  return path.map((point, step) => point - aimedAt * (boxLengths[step] ?? boxLength));
}

/** The point at which a standing camera has all of it in view; undefined where it moves too much for that. */
function lockedAim(
  seen: readonly Aim[],
  { boxLength, aimedAt }: { readonly boxLength: number; readonly aimedAt: number },
): number | undefined {
  if (seen.length === 0) return undefined;
  const aims = seen.map(({ aim }) => aim);
  if (quantile(aims, 1 - outermost) - quantile(aims, outermost) > lockedRange * boxLength) return undefined;
  const from = quantile(
    seen.map((each) => each.from),
    outermost,
  );
  const to = quantile(
    seen.map((each) => each.to),
    1 - outermost,
  );
  const earliest = to - (1 - aimedAt) * boxLength;
  const latest = from + aimedAt * boxLength;
  if (earliest > latest) {
    // A face that is larger than the box: as much is cut on both sides. One that moves too far is followed.
    const isTooLarge =
      quantile(
        seen.map((each) => each.to - each.from),
        0.5,
      ) > boxLength;
    return isTooLarge ? (earliest + latest) / 2 : undefined;
  }
  return Math.min(latest, Math.max(earliest, quantile(aims, 0.5)));
}

/** The value that `part` of the values do not exceed; 0 without values. Pure. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
