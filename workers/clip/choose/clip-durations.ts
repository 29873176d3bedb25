/** Durations a clip may have, and those it should come near. */
export type DurationRange = {
  readonly minMs: number;
  readonly maxMs: number;
  /** From here to there any duration is as good. */
  readonly idealFromMs: number;
  readonly idealToMs: number;
  /** A topic of its own may be this short although others may not. */
  readonly ownTopicMs: number;
};

const freeMinMs = 15_000;
const freeMaxMs = 60_000;
const freeIdealFromMs = 22_000;
const freeIdealToMs = 42_000;
/** When the source is too short for all the clips at 15 s, they may be this short before any is given up. */
const shortestFreeMs = 10_000;
/** Shorter than this is no clip at all. */
export const shortestClipMs = 1_000;
const lengthTolerance = 0.2;

/** How long clips may be: near the length asked for, else 15 to 60 seconds as the material asks. Pure. */
export function durationRange(wish: {
  readonly lengthMs: number | null;
  readonly count: number;
  readonly durationMs: number;
}): DurationRange {
  const { lengthMs, count, durationMs } = wish;
  if (lengthMs !== null) {
    const slackMs = lengthMs * lengthTolerance;
    const minMs = lengthMs - slackMs;
    const ideal = { idealFromMs: lengthMs, idealToMs: lengthMs };
    return { minMs, maxMs: lengthMs + slackMs, ownTopicMs: minMs, ...ideal };
  }
  const share = durationMs / count;
  const minMs = Math.max(shortestFreeMs, Math.min(freeMinMs, share * 0.9));
  return {
    minMs,
    maxMs: freeMaxMs,
    idealFromMs: Math.max(minMs, Math.min(freeIdealFromMs, share * 0.8)),
    idealToMs: Math.max(minMs, Math.min(freeIdealToMs, share)),
    ownTopicMs: shortestFreeMs,
  };
}

/** How good a duration is, 0 to 1. Pure. */
export function durationMark(durationMs: number, range: DurationRange): number {
  if (durationMs < range.idealFromMs) {
    return Math.max(0, 1 - (1.6 * (range.idealFromMs - durationMs)) / range.idealFromMs);
  }
  return Math.max(0, 1 - Math.max(0, durationMs - range.idealToMs) / range.idealToMs);
}
