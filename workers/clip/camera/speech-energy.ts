import type { SoundAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { Span } from './face-sightings.ts';

/** Louder than this part of the loudest moment of a shot, somebody may be speaking. */
const leastPart = 0.18;
const stepMs = 100;

/** Tells whether it is loud enough in a span of a shot for somebody to speak; never without sound. Pure. */
export function loudSpans(shot: Span, sound: SoundAnalysis | null): (span: Span) => boolean {
  if (sound === null) return () => false;
  const loudest = ({ startMs, endMs }: Span): number =>
    sound.loudness
      .slice(Math.floor(startMs / stepMs), Math.ceil(endMs / stepMs))
      .reduce((most, tenths) => Math.max(most, 10 ** (tenths / 200)), 0);
  const peak = loudest(shot);
  return (span) => peak > 0 && loudest(span) >= leastPart * peak;
}
