import { windowMs } from './sound-windows.ts';

/** Speech and level over time, one value per window. */
export type SpeechActivity = {
  /** 0 to 1: how likely somebody speaks. */
  readonly probabilities: Float32Array;
  /** dBFS, -100 for digital silence. */
  readonly levels: Float32Array;
};

/** A stretch of time in the source. */
export type Span = { readonly startMs: number; readonly endMs: number };

const startProbability = 0.5;
const keepProbability = 0.35;
/** A shorter silence is a stop consonant or a breath inside a phrase. */
const shortestPauseMs = 200;
const shortestUtteranceMs = 250;
/** Speech without any pause is parted at its weakest point after this time: nobody speaks longer on one breath. */
const longestUtteranceMs = 15_000;
const shortestPartMs = 4_000;

/** Phrases of speech, bounded by pauses. Pure. */
export function utterances(activity: SpeechActivity): readonly Span[] {
  return voicedRuns(activity.probabilities)
    .filter((run) => (run.end - run.start) * windowMs >= shortestUtteranceMs)
    .flatMap((run) => partLong(run, activity))
    .map((run) => ({ startMs: run.start * windowMs, endMs: run.end * windowMs }));
}

/** Windows `start` to `end` (exclusive). */
type Run = { readonly start: number; readonly end: number };

function voicedRuns(probabilities: Float32Array): Run[] {
  const pauseWindows = Math.ceil(shortestPauseMs / windowMs);
  const runs: Run[] = [];
  let start = -1;
  let lastVoiced = -1;
  for (const [window, probability] of probabilities.entries()) {
    if (probability >= (start < 0 ? startProbability : keepProbability)) {
      if (start < 0) start = window;
      lastVoiced = window;
    } else if (start >= 0 && window - lastVoiced >= pauseWindows) {
      runs.push({ start, end: lastVoiced + 1 });
      start = -1;
    }
  }
  if (start >= 0) runs.push({ start, end: lastVoiced + 1 });
  return runs;
}

function partLong(run: Run, activity: SpeechActivity): Run[] {
  const longest = Math.floor(longestUtteranceMs / windowMs);
  const shortest = Math.floor(shortestPartMs / windowMs);
  const parts: Run[] = [];
  let start = run.start;
  while (run.end - start > longest) {
    const cut = weakest(activity, start + shortest, Math.min(start + longest, run.end - shortest));
    parts.push({ start, end: cut });
    start = cut;
  }
  return [...parts, { start, end: run.end }];
}

/** The window where speech is least likely and quietest: between two words rather than inside one. */
function weakest(activity: SpeechActivity, from: number, to: number): number {
  let best = from;
  let bestStrength = Number.POSITIVE_INFINITY;
  for (let window = from; window < to; window += 1) {
    const strength = (activity.probabilities[window] ?? 0) + ((activity.levels[window] ?? 0) + 60) / 60;
    if (strength >= bestStrength) continue;
    best = window;
    bestStrength = strength;
  }
  return best;
}
