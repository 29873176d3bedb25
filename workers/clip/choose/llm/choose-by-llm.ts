import type { ChatEndpoint } from '#infra/llm/chat-endpoint.ts';
import type { Candidate } from '../candidates.ts';
import type { ChoiceRequest } from '../choice-request.ts';
import type { DurationRange } from '../clip-durations.ts';
import { spreadPicks } from '../pick-clips.ts';
import type { Sentence } from '../transcript.ts';
import { askForJson } from './ask-for-json.ts';
import { type Details, detailsQuestion, passagesQuestion } from './questions.ts';
import { transcriptWindows, type Window } from './transcript-windows.ts';

/** A clip that a language model chose, on bounds of ours. */
export type AdvisedClip = {
  readonly clip: Candidate;
  readonly title: string;
  readonly heading: string | null;
  /** Number of the sentence that should be heard first; null where the beginning is strong enough. */
  readonly hookSentence: number | null;
};

export type Advice = {
  readonly sentences: readonly Sentence[];
  /** Every stretch that could be a clip: whatever the model says snaps to one of them. */
  readonly candidates: readonly Candidate[];
  readonly request: ChoiceRequest;
  readonly range: DurationRange;
  readonly durationMs: number;
};

/** Questions under way at once, and windows that are asked about at most: 120 are two hours of talk. */
const questionsAtOnce = 4;
const mostWindows = 120;
/** How much the model's judgement counts beside our own. */
const modelShare = 0.75;

/**
 * Lets a language model choose: it reads the transcript in windows of 90 s and names passages, then settles each
 * chosen one's bounds, title and heading. Gives fewer clips than asked where it names fewer. Throws `ChatFailure`.
 */
export async function chooseByLlm(
  endpoint: ChatEndpoint,
  advice: Advice,
  signal: AbortSignal,
): Promise<readonly AdvisedClip[]> {
  const { sentences, candidates, request, range, durationMs } = advice;
  const windows = bestWindows(transcriptWindows(sentences), candidates);
  const answers = await inTurns(windows, (window) =>
    askForJson(endpoint, passagesQuestion(sentences, window, request, range), signal),
  );
  const named = answers.flatMap(({ clips }) =>
    clips.flatMap(({ first_sentence, last_sentence, score }) => {
      const nearest = nearestCandidate(candidates, sentences, { first: first_sentence, last: last_sentence });
      return nearest === null ? [] : [judged(nearest, score)];
    }),
  );
  const picks = spreadPicks(named, request.num_clips, durationMs);
  const details = await inTurns(picks, (clip) =>
    askForJson(endpoint, detailsQuestion(sentences, clip, request, range), signal),
  );
  return settled(picks, details, advice);
}

function judged(clip: Candidate, score: number): Candidate {
  const total = modelShare * (score / 100) + (1 - modelShare) * clip.total;
  return { ...clip, total: Math.round(total * 1000) / 1000, parts: { ...clip.parts, model: score / 100 } };
}

/** In a very long source, the windows that hold what we would choose ourselves. */
function bestWindows(windows: readonly Window[], candidates: readonly Candidate[]): readonly Window[] {
  if (windows.length <= mostWindows) return windows;
  const best = new Map(windows.map((window) => [window, 0]));
  let first = 0;
  for (const candidate of candidates) {
    while ((windows[first]?.end ?? Number.POSITIVE_INFINITY) <= candidate.firstSentence) first += 1;
    const window = windows[first];
    if (window !== undefined) best.set(window, Math.max(best.get(window) ?? 0, candidate.total));
  }
  const kept = new Set(
    windows.toSorted((a, b) => (best.get(b) ?? 0) - (best.get(a) ?? 0)).slice(0, mostWindows),
  );
  return windows.filter((window) => kept.has(window));
}

type SentenceRange = { readonly first: number; readonly last: number };

/** The candidate whose bounds are nearest to the sentences that were named; null when none is near. */
function nearestCandidate(
  candidates: readonly Candidate[],
  sentences: readonly Sentence[],
  range: SentenceRange,
): Candidate | null {
  const startMs = sentences[range.first]?.startMs ?? 0;
  const endMs = sentences[range.last]?.endMs ?? 0;
  let nearest: Candidate | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const overlap = Math.min(candidate.endMs, endMs) - Math.max(candidate.startMs, startMs);
    if (overlap <= 0) continue;
    // A wrong beginning is worse than an end that comes early or late.
    const distance =
      2 * Math.abs(candidate.startMs - startMs) + Math.abs(candidate.endMs - endMs) - candidate.total;
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

/** Bounds as the detail pass moved them, unless they would then run into another clip. */
function settled(
  picks: readonly Candidate[],
  details: readonly Details[],
  advice: Advice,
): readonly AdvisedClip[] {
  const taken: Candidate[] = [...picks];
  return picks.map((pick, at) => {
    const answer = details[at];
    const moved =
      answer === undefined
        ? null
        : nearestCandidate(advice.candidates, advice.sentences, {
            first: answer.first_sentence,
            last: answer.last_sentence,
          });
    const isFree =
      moved !== null &&
      taken.every((other) => other === pick || moved.endMs <= other.startMs || moved.startMs >= other.endMs);
    const clip =
      isFree && moved !== null
        ? { ...moved, total: pick.total, parts: { ...moved.parts, ...modelPart(pick) } }
        : pick;
    taken[taken.indexOf(pick)] = clip;
    return {
      clip,
      title: tidied(answer?.title ?? ''),
      heading: answer?.heading === null || answer === undefined ? null : tidied(answer.heading),
      hookSentence: answer?.hook_sentence ?? null,
    };
  });
}

function modelPart({ parts }: Candidate): { model?: number } {
  return parts.model === undefined ? {} : { model: parts.model };
}

/** One line without control characters or quotation marks around it. */
function tidied(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^["“](.*)["”]$/u, '$1');
}

/** The answers to all questions in their order, a few at a time; the first failure ends it. */
async function inTurns<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers = new Array<Answer>(items.length);
  const waiting = items.entries();
  const turns = Array.from({ length: questionsAtOnce }, async () => {
    for (const [at, item] of waiting) answers[at] = await ask(item);
  });
  await Promise.all(turns);
  return answers;
}
