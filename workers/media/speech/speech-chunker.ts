import { windowMs } from './sound-windows.ts';

/** Windows `start` to `end` (exclusive) of a sound. */
export type WindowRange = { readonly start: number; readonly end: number };

const startProbability = 0.5;
const keepProbability = 0.35;
const windows = (ms: number): number => Math.round(ms / windowMs);
/** A shorter silence is a stop consonant or a breath inside a phrase. */
const shortestPause = windows(256);
/** Phrases this close together are understood better together. */
const longestBridgedPause = windows(1_200);
/** Longer stretches make the model lose its place. */
const longestChunk = windows(14_000);
/** Where one breath lasts longer than a chunk, it is parted between these, where speech is least likely. */
const earliestPart = windows(5_000);
const latestPart = windows(1_000);

/**
 * Cuts a sound into stretches for speech recognition, in pauses where there are any, as the probabilities of
 * speech come in. A stretch is known at most 15 seconds after its beginning.
 */
export class SpeechChunker {
  #next = 0;
  /** Speech that goes on. */
  #run: { start: number; lastVoiced: number } | undefined;
  /** Speech that is over, but may be joined by what follows. */
  #pending: { start: number; end: number } | undefined;
  /** Probabilities since the run's start. */
  #probabilities: number[] = [];

  /** Takes the next window's probability of speech; returns the stretches that are complete now. */
  push(probability: number): readonly WindowRange[] {
    const window = this.#next;
    this.#next += 1;
    if (probability >= (this.#run === undefined ? startProbability : keepProbability)) {
      if (this.#run === undefined) this.#startRun(window);
      else this.#run.lastVoiced = window;
    }
    if (this.#run === undefined) return this.#pendingIfOver(window);
    this.#probabilities.push(probability);
    if (window - this.#run.lastVoiced >= shortestPause) return this.#endRun(this.#run);
    return this.#partLong(window, this.#run);
  }

  /** The sound is over: what is left. */
  finish(): readonly WindowRange[] {
    const done = this.#run === undefined ? [] : this.#endRun(this.#run);
    return [...done, ...this.#takePending()];
  }

  /** The earliest window that may still be part of a stretch. */
  get firstNeeded(): number {
    return this.#pending?.start ?? this.#run?.start ?? this.#next;
  }

  #startRun(window: number): void {
    this.#run = { start: window, lastVoiced: window };
    this.#probabilities = [];
  }

  #pendingIfOver(window: number): readonly WindowRange[] {
    const isOver = this.#pending !== undefined && window - this.#pending.end >= longestBridgedPause;
    return isOver ? this.#takePending() : [];
  }

  #takePending(): readonly WindowRange[] {
    const pending = this.#pending;
    this.#pending = undefined;
    return pending === undefined ? [] : [pending];
  }

  #endRun(run: { start: number; lastVoiced: number }): readonly WindowRange[] {
    this.#run = undefined;
    const ended = { start: run.start, end: run.lastVoiced + 1 };
    const pending = this.#pending;
    if (pending !== undefined && ended.end - pending.start <= longestChunk) {
      pending.end = ended.end;
      return [];
    }
    const done = this.#takePending();
    this.#pending = ended;
    return done;
  }

  /** What was pending cannot be joined by a run that is too long with it; a run too long alone is parted. */
  #partLong(window: number, run: { start: number; lastVoiced: number }): readonly WindowRange[] {
    if (this.#pending !== undefined && window + 1 - this.#pending.start > longestChunk) {
      return this.#takePending();
    }
    if (window + 1 - run.start <= longestChunk) return [];
    const part = run.start + this.#weakest(earliestPart, this.#probabilities.length - latestPart);
    const done = { start: run.start, end: part };
    this.#probabilities = this.#probabilities.slice(part - run.start);
    run.start = part;
    return [done];
  }

  /** The window between `from` and `to` around which speech is least likely, counted from the run's start. */
  #weakest(from: number, to: number): number {
    let best = from;
    let least = Number.POSITIVE_INFINITY;
    for (let at = from; at < to; at += 1) {
      const around = this.#probabilities.slice(at - 1, at + 2).reduce((sum, each) => sum + each, 0);
      if (around < least) [best, least] = [at, around];
    }
    return best;
  }
}
