import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import { loudnessStepMs } from '../../media/speech/loudness-meter.ts';
import type { Span } from '../../media/speech/utterances.ts';
import { coverage, StepCurve } from './step-curve.ts';

/** What can be measured of any stretch of the source without understanding it; each 0 to 1 unless said. */
export type SourceCurves = {
  readonly durationMs: number;
  /** Where somebody speaks, in whatever language, ascending. */
  readonly utterances: readonly Span[];
  /** Where the picture cuts, ascending. */
  readonly shotsMs: readonly number[];
  readonly speech: StepCurve;
  readonly black: StepCurve;
  /** Frames with a face, and with two or more. */
  readonly faces: StepCurve;
  readonly pairs: StepCurve;
  /** Loudness beside the source's own: 0.5 is its median. */
  readonly level: StepCurve;
  /** Moments far above the source's median loudness. */
  readonly peaks: StepCurve;
  /** Loud voices without words: laughter, cheers, shouts. An estimate, no classifier. */
  readonly outcries: StepCurve;
  /** Motion beside the source's own liveliest moments. */
  readonly motion: StepCurve;
};

const stepMs = loudnessStepMs;
const motionStepMs = 500;
const audibleTenths = -600;
/** Loudness units above the median that are a peak. */
const peakTenths = 60;
/** Words reach a little beyond their measured times. */
const wordMarginMs = 200;
/** Less motion than this is a still picture, however much it is the source's most. */
const leastLivelyMotion = 3;

/** Prepares a source's measures for any number of stretches; linear in its length. Pure. */
export function sourceCurves(analysis: SourceAnalysis): SourceCurves {
  const { duration_ms: durationMs, picture, sound } = analysis;
  const utterances = (sound?.utterances ?? [])
    .map((span) => ({ startMs: span.start_ms, endMs: span.end_ms }))
    .filter((span) => span.endMs <= durationMs);
  const speech = coverage(utterances, durationMs, stepMs);
  const loudness = sound?.loudness ?? [];
  const median = percentile(
    loudness.filter((value) => value > audibleTenths),
    0.5,
  );
  const sampleMs = (picture.frames_per_sample * 1000) / picture.frames_per_second;
  const faces = facesPerSample(analysis);
  const black = picture.black.map((span) => ({ startMs: span.start_ms, endMs: span.end_ms }));
  return {
    durationMs,
    utterances,
    shotsMs: picture.cut_frames
      .map((frame) => Math.round((frame / picture.frames_per_second) * 1000))
      .filter((atMs) => atMs < durationMs),
    speech: new StepCurve(speech, stepMs),
    black: new StepCurve(coverage(black, durationMs, stepMs), stepMs),
    faces: new StepCurve(
      faces.map((count) => Math.min(1, count)),
      sampleMs,
    ),
    pairs: new StepCurve(
      faces.map((count) => (count >= 2 ? 1 : 0)),
      sampleMs,
    ),
    level: new StepCurve(
      loudness.map((value) => clamp01(0.5 + (value - median) / 200)),
      stepMs,
    ),
    peaks: new StepCurve(
      loudness.map((value) => (value >= median + peakTenths ? 1 : 0)),
      stepMs,
    ),
    outcries: new StepCurve(outcries(analysis, speech, median), stepMs),
    motion: new StepCurve(relativeMotion(picture.motion), motionStepMs),
  };
}

function facesPerSample({ picture }: SourceAnalysis): readonly number[] {
  const counts = new Array<number>(Math.ceil(picture.frame_count / picture.frames_per_sample)).fill(0);
  for (const track of picture.face_tracks) {
    for (const frame of track.frames) {
      const sample = Math.floor(frame / picture.frames_per_sample);
      if (sample < counts.length) counts[sample] = (counts[sample] ?? 0) + 1;
    }
  }
  return counts;
}

function outcries({ sound }: SourceAnalysis, speech: ArrayLike<number>, median: number): Float64Array {
  const loudness = sound?.loudness ?? [];
  const worded = new Uint8Array(speech.length);
  for (const word of sound?.words ?? []) {
    const from = Math.max(0, Math.floor((word.start_ms - wordMarginMs) / stepMs));
    worded.fill(1, from, Math.ceil((word.end_ms + wordMarginMs) / stepMs));
  }
  return Float64Array.from(speech, (share, step) =>
    worded[step] === 0 && (loudness[step] ?? -1000) >= median + peakTenths / 3 ? share : 0,
  );
}

function relativeMotion(motion: readonly number[]): readonly number[] {
  const lively = Math.max(leastLivelyMotion, percentile(motion, 0.95));
  return motion.map((value) => clamp01(value / lively));
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function clamp01(value: number): number {
  return Math.min(1, Math.max(0, value));
}
