import { levelDb, samplesPerSecond } from './sound-windows.ts';
import type { TimedWord } from './timed-words.ts';

const stepMs = 10;
const samplesPerStep = (samplesPerSecond * stepMs) / 1000;
/** Below this part of the way from the sound's quiet to its loud moments (in dB) nobody speaks. */
const silenceShare = 0.25;
/** A shorter silence inside a word is the closure of a stop consonant. */
const shortestPauseMs = 130;
const shortestWordMs = 40;

/**
 * Moves the edges of words out of pauses. The model's attention tells well which word is said, but at a pause
 * it may go on to the next word long before that is heard: a word with a pause inside lies on the louder side
 * of it. `samples` is the sound that the words' times count from. Pure.
 */
export function snapWordEdges(words: readonly TimedWord[], samples: Float32Array): readonly TimedWord[] {
  const silent = silentSteps(samples);
  const snapped = words.map((word) => ({ ...word }));
  for (const [index, word] of snapped.entries()) {
    const parts = spokenParts(silent, word.startMs, word.endMs);
    const own = parts.toSorted((a, b) => b.endMs - b.startMs - (a.endMs - a.startMs))[0];
    if (own === undefined || own.endMs - own.startMs < shortestWordMs) continue;
    const [before, after] = [snapped[index - 1], snapped[index + 1]];
    const [first, last] = [parts[0], parts.at(-1)];
    // What is heard before the pause is the end of the word before; what comes after it, the next one's beginning.
    if (before !== undefined && first !== undefined && first !== own && first.startMs <= word.startMs) {
      before.endMs = Math.max(before.endMs, first.endMs);
    }
    if (after !== undefined && last !== undefined && last !== own && last.endMs >= word.endMs) {
      after.startMs = Math.min(after.startMs, last.startMs);
    }
    word.startMs = own.startMs;
    word.endMs = own.endMs;
  }
  return snapped;
}

type Part = { readonly startMs: number; readonly endMs: number };

/** The stretches between pauses, silence at both ends taken off. */
function spokenParts(silent: readonly boolean[], startMs: number, endMs: number): readonly Part[] {
  const parts: Part[] = [];
  let start: number | undefined;
  let lastSpoken = 0;
  for (let at = startMs; at < endMs; at += stepMs) {
    if (silent[Math.floor(at / stepMs)] ?? true) continue;
    if (start !== undefined && at - lastSpoken > shortestPauseMs) {
      parts.push({ startMs: start, endMs: lastSpoken + stepMs });
      start = undefined;
    }
    start ??= at;
    lastSpoken = at;
  }
  if (start !== undefined) parts.push({ startMs: start, endMs: Math.min(endMs, lastSpoken + stepMs) });
  return parts;
}

/** For each 10 ms, whether it is silent by the sound's own measure. */
function silentSteps(samples: Float32Array): readonly boolean[] {
  const levels = Array.from({ length: Math.floor(samples.length / samplesPerStep) }, (_, step) =>
    levelDb(samples.subarray(step * samplesPerStep, (step + 2) * samplesPerStep)),
  );
  const sorted = levels.toSorted((a, b) => a - b);
  const quiet = sorted[Math.floor(sorted.length * 0.05)] ?? 0;
  const loud = sorted[Math.floor(sorted.length * 0.9)] ?? 0;
  const threshold = quiet + (loud - quiet) * silenceShare;
  return levels.map((level) => level < threshold);
}
