/** How a camera follows a target along one axis; all lengths in the same unit, such as pixels. */
export type Following = {
  /** From one value to the next. */
  readonly stepMs: number;
  /** Side of the box that follows, along this axis. */
  readonly boxLength: number;
};

/** A target that wanders by less than this part of the box leaves the camera where it rests. */
const restingRange = 0.25;
/** The camera has come (to 95%) where it should be after this time. */
const settleSeconds = 0.9;
/** Critically damped: 95% of the way takes 4.74 / ω. */
const angularSpeed = 4.74 / settleSeconds;
/** Boxes a second. */
const mostSpeed = 0.4;
/** A change of place by more than this part of the box is believed when it is seen so often in a row. */
const jump = 0.25;
const jumpConfirmations = 3;
const lowPassLength = 5;
/** Steps of the spring inside one of the path's. */
const substeps = 8;

/**
 * The camera's path along one axis of one shot, for a target at each step: made with the whole shot known, so it
 * starts a little before the target moves and does not lag behind. Median of 3 → jumps confirmed → resting places
 * (a dead zone that is laid around what the target will do) → critically damped spring of limited speed →
 * low-pass of 5. Pure.
 */
export function cameraPath(targets: readonly number[], following: Following): readonly number[] {
  const wanted = restingPlaces(confirmed(medianOfThree(targets), following), following);
  return lowPassed(sprung(anticipated(wanted, following), following));
}

/** Each value replaced by the middle one of it and its neighbours. Pure. */
export function medianOfThree(values: readonly number[]): readonly number[] {
  return values.map((value, index) => {
    const three = [values[index - 1] ?? value, value, values[index + 1] ?? value];
    return three.sort((a, b) => a - b)[1] ?? value;
  });
}

/** A far jump counts from its first value on, but only where the next ones confirm it. */
function confirmed(values: readonly number[], { boxLength }: Following): readonly number[] {
  const far = jump * boxLength;
  const accepted: number[] = [];
  for (const [index, value] of values.entries()) {
    const before = accepted.at(-1);
    const next = values.slice(index, index + jumpConfirmations);
    const isFar = before !== undefined && Math.abs(value - before) > far;
    const isConfirmed =
      next.length === jumpConfirmations && next.every((each) => Math.abs(each - value) <= far);
    accepted.push(isFar && !isConfirmed ? before : value);
  }
  return accepted;
}

/** Each value replaced by the middle of the longest stretch from it on that one resting place serves. */
function restingPlaces(values: readonly number[], { boxLength }: Following): readonly number[] {
  const most = restingRange * boxLength;
  const places: number[] = [];
  while (places.length < values.length) {
    const from = places.length;
    let [low, high] = [Infinity, -Infinity];
    let to = from;
    for (; to < values.length; to += 1) {
      const value = values[to] ?? 0;
      const wider = { low: Math.min(low, value), high: Math.max(high, value) };
      if (to > from && wider.high - wider.low > most) break;
      [low, high] = [wider.low, wider.high];
    }
    for (let step = from; step < to; step += 1) places.push((low + high) / 2);
  }
  return places;
}

/** A spring comes 2 / ω late: it is shown the target that much earlier. */
function anticipated(values: readonly number[], { stepMs }: Following): readonly number[] {
  const ahead = Math.round(((2 / angularSpeed) * 1000) / stepMs);
  return values.map((_, index) => values[Math.min(values.length - 1, index + ahead)] ?? 0);
}

function sprung(values: readonly number[], { stepMs, boxLength }: Following): readonly number[] {
  const dt = stepMs / 1000 / substeps;
  const limit = mostSpeed * boxLength;
  let position = values[0] ?? 0;
  let speed = 0;
  return values.map((value) => {
    const shown = position;
    for (let step = 0; step < substeps; step += 1) {
      const pull = angularSpeed ** 2 * (value - position) - 2 * angularSpeed * speed;
      speed = Math.min(limit, Math.max(-limit, speed + pull * dt));
      position += speed * dt;
    }
    return shown;
  });
}

function lowPassed(values: readonly number[]): readonly number[] {
  const reach = Math.floor(lowPassLength / 2);
  return values.map((value, index) => {
    let sum = 0;
    for (let offset = -reach; offset <= reach; offset += 1) sum += values[index + offset] ?? value;
    return sum / lowPassLength;
  });
}
