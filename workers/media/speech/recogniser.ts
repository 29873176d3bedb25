import type { TimedWord } from './timed-words.ts';

/** What was heard in a stretch of sound. */
export type HeardWords = {
  /** BCP 47: the language that the words were taken for. */
  readonly language: string;
  /** Ascending; times count from the stretch's beginning and lie within it. */
  readonly words: readonly TimedWord[];
};

/** A speech model: Moonshine, which comes with the service, or an operator's Whisper. */
export type Recogniser = {
  /** Hears a stretch of 16 kHz mono sound, samples from -1 to 1, of at least 0.1 and at most some 15 seconds. */
  readonly hear: (samples: Float32Array) => Promise<HeardWords>;
};
