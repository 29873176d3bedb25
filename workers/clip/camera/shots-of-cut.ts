import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { Span } from './face-sightings.ts';

/** A cut ends or starts a moment beside a shot's border: what is shorter than this is no shot of its own. */
const shortestMs = 1;

/** The shots that a cut shows, each from its first frame to the next shot's, in order and without a gap. Pure. */
export function shotsOfCut(
  analysis: SourceAnalysis,
  cut: { readonly start_ms: number; readonly end_ms: number },
): readonly Span[] {
  const { cut_frames, frames_per_second } = analysis.picture;
  const inside = cut_frames
    .map((frame) => (frame / frames_per_second) * 1000)
    .filter((ms) => ms > cut.start_ms + shortestMs && ms < cut.end_ms - shortestMs);
  const starts = [cut.start_ms, ...inside];
  return starts.map((startMs, index) => ({ startMs, endMs: starts[index + 1] ?? cut.end_ms }));
}
