/** A constant rate of frames as an exact fraction. */
export type ExactRate = { readonly frames: number; readonly seconds: number };

/** Presentation times are counted in this many parts of a second: whole for 24, 25, 30, 50 and 60 frames, and theirs × 1000/1001. */
export const ticksPerSecond = 90_000;
/** Matroska rounds times to milliseconds; a frame that is later or earlier by more is late or early. */
const toleranceTicks = 1.1 * (ticksPerSecond / 1000);
const mostSeconds = 1001;

/** The fraction that a measured rate stands for: 29.97003 is 30000/1001. Pure. */
export function exactRate(framesPerSecond: number): ExactRate {
  const whole = Math.round(framesPerSecond);
  if (whole > 0 && Math.abs(framesPerSecond - whole) < 1e-3 * whole * 0.3)
    return { frames: whole, seconds: 1 };
  const film = Math.round(framesPerSecond * 1.001);
  if (film > 0 && Math.abs(framesPerSecond - film / 1.001) < 1e-3 * film * 0.3) {
    return { frames: film * 1000, seconds: mostSeconds };
  }
  for (let seconds = 2; seconds <= mostSeconds; seconds += 1) {
    const frames = Math.round(framesPerSecond * seconds);
    if (frames > 0 && Math.abs(frames / seconds - framesPerSecond) < 1e-5 * framesPerSecond)
      return { frames, seconds };
  }
  return { frames: Math.max(1, Math.round(framesPerSecond * mostSeconds)), seconds: mostSeconds };
}

/** Whether frames that were shown at `ticks` (ascending) follow a constant rate. Pure. */
export function isConstant(ticks: readonly number[], rate: ExactRate): boolean {
  const [first = 0] = ticks;
  return ticks.every(
    (tick, frame) =>
      Math.abs(tick - first - (frame * rate.seconds * ticksPerSecond) / rate.frames) <= toleranceTicks,
  );
}

/** The constant rate of frames shown at `ticks`, or undefined where there is none. Pure. */
export function constantRate(ticks: readonly number[], claimed: number): ExactRate | undefined {
  const [first = 0] = ticks;
  const last = ticks.at(-1) ?? first;
  const measured = last > first ? ((ticks.length - 1) * ticksPerSecond) / (last - first) : claimed;
  return [exactRate(claimed), exactRate(measured)].find((rate) => isConstant(ticks, rate));
}
