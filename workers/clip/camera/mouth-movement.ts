import type { Face, Span } from './face-sightings.ts';

/** Lips that move less than this (in parts of the eye distance) are the mesh's trembling. */
const leastLipRange = 0.04;
/** From one sample to the next, lips that move more than this have begun to speak. */
const leastStep = 0.015;
/** A mouth that rests for longer has not begun yet. */
const longestRestMs = 400;
/** Samples beside a window that belong to it: eight a second are few. */
const marginMs = 60;

/**
 * How much a mouth moves in each span: 0 for the face's own stillness to 1 for its own liveliness (its 20th and
 * 80th percentiles); undefined where its lips are not seen. Pure.
 */
export function mouthMovement(face: Face, spans: readonly Span[]): readonly (number | undefined)[] {
  const ranges = spans.map((span) => lipRange(face, span));
  const known = ranges.filter((each) => each !== undefined).sort((a, b) => a - b);
  const low = known[Math.floor(known.length * 0.2)] ?? 0;
  const high = known[Math.floor(known.length * 0.8)] ?? 0;
  // Somebody who talks all the time is lively in every window: then the low end is no stillness.
  const still = Math.min(low, leastLipRange);
  const lively = Math.max(leastLipRange, high - still);
  return ranges.map((each) =>
    each === undefined ? undefined : Math.min(1, Math.max(0, (each - still) / lively)),
  );
}

function lipRange({ sightings }: Face, { startMs, endMs }: Span): number | undefined {
  let [least, most, count] = [Infinity, -Infinity, 0];
  for (const { atMs, lips } of sightings) {
    if (lips === undefined || atMs < startMs - marginMs || atMs >= endMs + marginMs) continue;
    least = Math.min(least, lips);
    most = Math.max(most, lips);
    count += 1;
  }
  return count < 2 ? undefined : most - least;
}

/** When a mouth that moves within `span` began to, looked for no earlier than `earliestMs`. Pure. */
export function mouthOnset(face: Face, span: Span, earliestMs: number): number {
  const moving = face.sightings
    .filter(({ lips }, index) => {
      const before = face.sightings[index - 1]?.lips;
      return lips !== undefined && before !== undefined && Math.abs(lips - before) >= leastStep;
    })
    .map(({ atMs }) => atMs)
    .filter((ms) => ms >= earliestMs && ms < span.endMs);
  let onset = moving.find((ms) => ms >= span.startMs) ?? span.startMs;
  for (const ms of moving.toReversed()) {
    if (ms < onset && onset - ms <= longestRestMs) onset = ms;
  }
  return Math.max(earliestMs, Math.min(onset, span.startMs));
}
