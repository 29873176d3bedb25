import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import { loudnessStepMs } from '../../media/speech/loudness-meter.ts';
import type { Span } from '../../media/speech/utterances.ts';
import type { Material } from './choose-segments.ts';

const silenceLufs = -100;

/** What the choice of segments rests on, out of a source's analysis. Pure. */
export function materialOf(analysis: SourceAnalysis): Material {
  const { picture, sound, duration_ms: durationMs } = analysis;
  const loudness = sound?.loudness ?? [];
  return {
    durationMs,
    utterances: (sound?.utterances ?? []).map(spanOf).filter((span) => span.endMs <= durationMs),
    shotsMs: picture.cut_frames.map((frame) => Math.round((frame / picture.frames_per_second) * 1000)),
    black: picture.black.map(spanOf),
    levelDb: (span) => meanLoudness(loudness, span),
  };
}

function spanOf(span: { readonly start_ms: number; readonly end_ms: number }): Span {
  return { startMs: span.start_ms, endMs: span.end_ms };
}

function meanLoudness(tenths: readonly number[], span: Span): number {
  const values = tenths.slice(
    Math.floor(span.startMs / loudnessStepMs),
    Math.ceil(span.endMs / loudnessStepMs),
  );
  if (values.length === 0) return silenceLufs;
  return values.reduce((sum, value) => sum + value, 0) / values.length / 10;
}
