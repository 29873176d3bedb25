import type { Sentence } from './transcript.ts';

/** A boundary this sure parts two topics. */
export const newTopic = 0.5;

/** Sentences on either side that are compared; ClipsAI's 5 and 7, and 2 for topics of a few sentences. */
const blocks = [
  { size: 2, smoothing: 1 },
  { size: 5, smoothing: 3 },
  { size: 7, smoothing: 3 },
] as const;
/** Nobody speaks for so long: what follows is something else. */
const breakMs = 4_000;
/** A cut of the picture in a pause adds so much, less where the picture cuts in many pauses anyway. */
const cutGain = 0.6;

/**
 * How surely a new topic begins with each sentence, 0 to 1 (TextTiling, Hearst 1997, over sentence vectors): the
 * likeness of what stands before and after each gap falls into a valley where the topic changes, and the valley's
 * depth counts. The first sentence has 1. Linear in the sentences. Pure.
 */
export function topicBoundaries(
  sentences: readonly Sentence[],
  vectors: readonly Float32Array[],
  cutsMs: readonly number[],
): readonly number[] {
  if (sentences.length === 0) return [];
  const sums = runningSums(vectors);
  const depths = blocks.map(({ size, smoothing }) =>
    normalisedDepths(smoothed(gapLikeness(sums, vectors.length, size), smoothing)),
  );
  const cuts = cutsInPauses(sentences, cutsMs);
  const cutWorth = cutGain * Math.max(0, 1 - (1.5 * cuts.filter(Boolean).length) / sentences.length);
  return sentences.map((sentence, at) => {
    if (at === 0 || sentence.gapBeforeMs >= breakMs) return 1;
    const depth = depths.reduce((sum, each) => sum + (each[at - 1] ?? 0), 0) / depths.length;
    // A pause makes a change of topic more likely, its absence less.
    const pause = Math.min(1, Math.max(0, sentence.gapBeforeMs) / 1_500);
    return Math.min(1, depth * (0.7 + 0.6 * pause) + (cuts[at] === true ? cutWorth : 0));
  });
}

/** Whether the picture cuts in the pause before each sentence. */
function cutsInPauses(sentences: readonly Sentence[], cutsMs: readonly number[]): readonly boolean[] {
  let next = 0;
  return sentences.map((sentence) => {
    while (next < cutsMs.length && (cutsMs[next] ?? 0) < sentence.startMs - sentence.gapBeforeMs) next += 1;
    return (cutsMs[next] ?? Number.POSITIVE_INFINITY) <= sentence.startMs;
  });
}

/** sums[n]: the sum of the first n vectors. */
function runningSums(vectors: readonly Float32Array[]): readonly Float64Array[] {
  const dimensions = vectors[0]?.length ?? 0;
  let sum = new Float64Array(dimensions);
  const sums = [sum];
  for (const vector of vectors) {
    sum = sum.map((value, at) => value + (vector[at] ?? 0));
    sums.push(sum);
  }
  return sums;
}

/** The cosine of the blocks before and after each gap; gap n stands before sentence n + 1. */
function gapLikeness(sums: readonly Float64Array[], count: number, size: number): readonly number[] {
  return Array.from({ length: Math.max(0, count - 1) }, (_, gap) => {
    const middle = gap + 1;
    const [from, to] = [Math.max(0, middle - size), Math.min(count, middle + size)];
    return blockCosine(sums[from], sums[middle], sums[to]);
  });
}

function blockCosine(
  from: Float64Array | undefined,
  middle: Float64Array | undefined,
  to: Float64Array | undefined,
): number {
  if (from === undefined || middle === undefined || to === undefined) return 0;
  let [dot, left, right] = [0, 0, 0];
  for (let at = 0; at < middle.length; at += 1) {
    const before = (middle[at] ?? 0) - (from[at] ?? 0);
    const after = (to[at] ?? 0) - (middle[at] ?? 0);
    dot += before * after;
    left += before * before;
    right += after * after;
  }
  return dot / Math.max(1e-9, Math.sqrt(left * right));
}

function smoothed(values: readonly number[], width: number): readonly number[] {
  const reach = (width - 1) / 2;
  return values.map((_, at) => {
    const near = values.slice(Math.max(0, at - reach), at + reach + 1);
    return near.reduce((sum, value) => sum + value, 0) / near.length;
  });
}

/** Depths of the valleys; 0 up to half a deviation below the mean (Hearst's threshold), 1 two deviations above. */
function normalisedDepths(likeness: readonly number[]): readonly number[] {
  const depths = valleyDepths(likeness);
  const mean = depths.reduce((sum, depth) => sum + depth, 0) / Math.max(1, depths.length);
  const deviation = Math.sqrt(
    depths.reduce((sum, depth) => sum + (depth - mean) ** 2, 0) / Math.max(1, depths.length),
  );
  const floor = mean - deviation / 2;
  return depths.map((depth) => Math.min(1, Math.max(0, (depth - floor) / Math.max(1e-6, 2.5 * deviation))));
}

/** How far the likeness rises on both sides of each gap, taken only at the bottom of a valley. */
function valleyDepths(likeness: readonly number[]): readonly number[] {
  const left = risesBefore(likeness);
  const right = risesBefore(likeness.toReversed()).toReversed();
  return likeness.map((value, at) => {
    const isBottom = value <= (likeness[at - 1] ?? 2) && value <= (likeness[at + 1] ?? 2);
    return isBottom ? (left[at] ?? 0) + (right[at] ?? 0) : 0;
  });
}

/** How far above each value the peak is that an uninterrupted climb backwards reaches. */
function risesBefore(values: readonly number[]): readonly number[] {
  let peak = values[0] ?? 0;
  return values.map((value, at) => {
    const last = values[at - 1] ?? value;
    peak = value > last ? value : peak;
    return Math.max(0, peak - value);
  });
}
