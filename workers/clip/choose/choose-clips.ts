import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import { type Candidate, candidates } from './candidates.ts';
import type { ChoiceParts, ChoiceRequest } from './choice-request.ts';
import type { ChosenClip, ChosenClips } from './chosen-clip.ts';
import { type DurationRange, durationRange } from './clip-durations.ts';
import { clipEdges, type Edges } from './clip-edges.ts';
import { openClip } from './hook.ts';
import { judgeSource } from './judge-source.ts';
import { askForAdvice } from './llm/ask-for-advice.ts';
import type { AdvisedClip } from './llm/choose-by-llm.ts';
import { type ClipName, type NamedSource, nameClips } from './name-clips.ts';
import { mostApart, spreadPicks } from './pick-clips.ts';
import { shortfall, unbroken, wholeSource } from './whole-source.ts';

/**
 * Chooses a job's clips by a source's analysis: what each shows, how it opens, and what it is called. A language
 * model chooses where the operator has one, our own rules where not or where it fails. Without it, the same
 * analysis, request and models give the same choice. Throws what the embedder throws, and when `signal` aborts.
 */
export async function chooseClips(
  analysis: SourceAnalysis,
  request: ChoiceRequest,
  parts: ChoiceParts,
): Promise<ChosenClips> {
  const { source, notes } = await judgeSource(analysis, request, parts.embedder);
  const range = durationRange({
    lengthMs: lengthMs(request),
    count: request.num_clips,
    durationMs: analysis.duration_ms,
  });
  const edges = clipEdges(source.curves, source);
  const choice = await pickClips({ source, edges, range, request }, parts);
  const picks = choice.picks.toSorted(
    (a, b) => b.clip.total - a.clip.total || a.clip.startMs - b.clip.startMs,
  );
  const names = nameClips(picks, source, request);
  const clips = picks.map((pick, at) =>
    chosenClip(pick, names[at], { source, edges, range, request }, [
      ...(choice.isAdvised ? [] : [...notes, ...offPrompt(pick.clip, source)]),
      ...choice.notes,
    ]),
  );
  return {
    clips,
    shortfall: shortfall(clips.length, request.num_clips, { range, durationMs: analysis.duration_ms }),
  };
}

type Choosing = {
  readonly source: NamedSource;
  readonly edges: Edges;
  readonly range: DurationRange;
  readonly request: ChoiceRequest;
};

/** A stretch, and what a language model said of it. */
type Pick = { readonly clip: Candidate; readonly advised: AdvisedClip | null };

type Picks = {
  readonly picks: readonly Pick[];
  readonly isAdvised: boolean;
  readonly notes: readonly string[];
};

/** The best stretches, which neither overlap nor crowd together. */
async function pickClips(choosing: Choosing, parts: ChoiceParts): Promise<Picks> {
  const { source, edges, range, request } = choosing;
  const { durationMs } = source.curves;
  if (durationMs < range.minMs) {
    const short = 'The source is shorter than the length that was asked for.';
    const picks = [{ clip: wholeSource(source), advised: null }];
    return { picks, isAdvised: false, notes: request.length_seconds === null ? [] : [short] };
  }
  const found = candidates(source, edges, range);
  const all = found.length > 0 ? found : [unbroken(source, range)];
  const own = (): readonly Pick[] => ownPicks(all, request.num_clips, durationMs);
  if (parts.languageModel === undefined || source.sentences.length === 0) {
    return { picks: own(), isAdvised: false, notes: [] };
  }
  const advice = { sentences: source.sentences, candidates: all, request, range, durationMs };
  const signal = parts.signal ?? new AbortController().signal;
  const advised = await askForAdvice(parts.languageModel, advice, signal);
  if (advised.clips === null) return { picks: own(), isAdvised: false, notes: [advised.note] };
  const picks = advised.clips.map((each) => ({ clip: each.clip, advised: each }));
  return { picks: filledUp(picks, all, request.num_clips, durationMs), isAdvised: true, notes: [] };
}

function ownPicks(all: readonly Candidate[], count: number, durationMs: number): readonly Pick[] {
  const spread = spreadPicks(all, count, durationMs);
  const picks = spread.length < count ? mostApart(all, count) : spread;
  return picks.map((clip) => ({ clip, advised: null }));
}

/** Where the model named fewer than were asked for, our own rules choose the rest from what is left. */
function filledUp(
  picks: readonly Pick[],
  all: readonly Candidate[],
  count: number,
  durationMs: number,
): readonly Pick[] {
  if (picks.length >= count) return picks;
  const free = all.filter((each) =>
    picks.every(({ clip }) => each.endMs <= clip.startMs || each.startMs >= clip.endMs),
  );
  const more = spreadPicks(free, count - picks.length, durationMs);
  return [...picks, ...more.map((clip) => ({ clip, advised: null }))];
}

function chosenClip(
  { clip, advised }: Pick,
  name: ClipName | undefined,
  { source, edges, range, request }: Choosing,
  notes: readonly string[],
): ChosenClip {
  const opened = openClip(clip, source, edges.ends, {
    hookMs: request.hook_length_seconds === null ? null : request.hook_length_seconds * 1000,
    lengthMs: lengthMs(request),
    maxMs: Math.max(range.maxMs, clip.endMs - clip.startMs),
    strongest: advised === null ? undefined : advised.hookSentence,
  });
  return {
    title: name?.title ?? '',
    heading: name?.heading ?? null,
    cuts: opened.cuts,
    hook: opened.hook,
    score: { total: clip.total, parts: clip.parts },
    notes: [...notes, ...opened.notes, ...(name?.notes ?? [])],
  };
}

function lengthMs(request: ChoiceRequest): number | null {
  return request.length_seconds === null ? null : request.length_seconds * 1000;
}

/** A clip that nothing in the prompt speaks for stands only because so many were asked for: its note says so. */
function offPrompt(clip: Candidate, source: NamedSource): readonly string[] {
  const { relevance } = source;
  if (relevance === null) return [];
  const best = Math.max(0, ...relevance.slice(clip.firstSentence, clip.endSentence));
  return best > 0 ? [] : ['This clip is not about the prompt: the source has no more that is.'];
}
