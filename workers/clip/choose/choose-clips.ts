import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import { type Candidate, candidates } from './candidates.ts';
import type { ChoiceParts, ChoiceRequest } from './choice-request.ts';
import type { ChosenClips } from './chosen-clip.ts';
import { type DurationRange, durationRange } from './clip-durations.ts';
import { clipEdges, type Edges } from './clip-edges.ts';
import { openClip } from './hook.ts';
import { judgeSource } from './judge-source.ts';
import { type NamedSource, nameClips } from './name-clips.ts';
import { mostApart, spreadPicks } from './pick-clips.ts';

/**
 * Chooses a job's clips by a source's analysis: what each shows, how it opens, and what it is called. The same
 * analysis, request and models give the same choice. Throws what the embedder throws.
 */
export async function chooseClips(
  analysis: SourceAnalysis,
  request: ChoiceRequest,
  parts: ChoiceParts,
): Promise<ChosenClips> {
  const { source, notes } = await judgeSource(analysis, request, parts.embedder);
  const lengthMs = request.length_seconds === null ? null : request.length_seconds * 1000;
  const durationMs = analysis.duration_ms;
  const range = durationRange({ lengthMs, count: request.num_clips, durationMs });
  const edges = clipEdges(source.curves, source);
  const { picks, notes: pickNotes } = pickClips(source, edges, range, request);
  const names = nameClips(picks, source, request);
  const clips = picks.map((clip, at) => {
    const wish = {
      hookMs: hookMs(request),
      lengthMs,
      maxMs: Math.max(range.maxMs, clip.endMs - clip.startMs),
    };
    const opened = openClip(clip, source, edges.ends, wish);
    const name = names[at];
    return {
      title: name?.title ?? '',
      heading: name?.heading ?? null,
      cuts: opened.cuts,
      hook: opened.hook,
      score: { total: clip.total, parts: clip.parts },
      notes: [...notes, ...pickNotes, ...offPrompt(clip, source), ...opened.notes, ...(name?.notes ?? [])],
    };
  });
  return { clips, shortfall: shortfall(clips.length, request.num_clips, range) };
}

function hookMs(request: ChoiceRequest): number | null {
  return request.hook_length_seconds === null ? null : request.hook_length_seconds * 1000;
}

type Picks = { readonly picks: readonly Candidate[]; readonly notes: readonly string[] };

/** The best stretches that neither overlap nor crowd together, the best first. */
function pickClips(source: NamedSource, edges: Edges, range: DurationRange, request: ChoiceRequest): Picks {
  const { durationMs } = source.curves;
  if (durationMs < range.minMs) {
    const short = 'The source is shorter than the length that was asked for.';
    return { picks: [wholeSource(source)], notes: request.length_seconds === null ? [] : [short] };
  }
  const found = candidates(source, edges, range);
  const all = found.length > 0 ? found : [unbroken(source, range)];
  const spread = spreadPicks(all, request.num_clips, durationMs);
  const picks = spread.length < request.num_clips ? mostApart(all, request.num_clips) : spread;
  return { picks: picks.toSorted((a, b) => b.total - a.total || a.startMs - b.startMs), notes: [] };
}

/** A source that is shorter than the shortest clip is taken as it is. */
function wholeSource(source: NamedSource): Candidate {
  const { durationMs } = source.curves;
  return stretch(source, { startMs: 0, endMs: durationMs });
}

/** One long unbroken thing: no pause lies at the right distance, so time alone decides. */
function unbroken(source: NamedSource, range: DurationRange): Candidate {
  const targetMs = Math.min(source.curves.durationMs, range.idealToMs);
  return stretch(source, { startMs: 0, endMs: outsideWords(source, targetMs) });
}

/** The end of the last word before `atMs`, where that lies inside a word. */
function outsideWords(source: NamedSource, atMs: number): number {
  for (const { words } of source.sentences) {
    const hit = words.find((word) => word.start_ms < atMs && atMs < word.end_ms);
    if (hit !== undefined) return hit.start_ms;
  }
  return atMs;
}

function stretch(source: NamedSource, span: { startMs: number; endMs: number }): Candidate {
  const inside = source.sentences.filter(
    ({ startMs, endMs }) => startMs >= span.startMs && endMs <= span.endMs,
  );
  return { ...span, firstSentence: 0, endSentence: inside.length, total: 0, parts: {} };
}

/** A clip that nothing in the prompt speaks for stands only because so many were asked for: its note says so. */
function offPrompt(clip: Candidate, source: NamedSource): readonly string[] {
  const { relevance } = source;
  if (relevance === null) return [];
  const best = Math.max(0, ...relevance.slice(clip.firstSentence, clip.endSentence));
  return best > 0 ? [] : ['This clip is not about the prompt: the source has no more that is.'];
}

function shortfall(found: number, asked: number, range: DurationRange): string | null {
  if (found >= asked) return null;
  const seconds = Math.round(range.minMs / 1000);
  const clips = found === 1 ? 'one clip' : `${found} clips`;
  return `The source gives only ${clips} of at least ${seconds} seconds without repeating itself; ${asked} were asked for.`;
}
