import type { SourceAnalysis } from '../../media/analysis/analysis-schema.ts';
import type { ChoiceRequest, Embedder } from './choice-request.ts';
import { headingInstructions } from './heading-instructions.ts';
import type { NamedSource } from './name-clips.ts';
import {
  anyPromptTexts,
  matchPrompt,
  type PromptMatch,
  type PromptTexts,
  promptTexts,
} from './prompt-match.ts';
import { markSentence } from './sentence-marks.ts';
import { sourceCurves } from './source-curves.ts';
import { newTopic, topicBoundaries } from './topic-boundaries.ts';
import { understoodSentences } from './transcript.ts';

/** A source made ready to be chosen from, and what its clips' plans should say of that. */
export type Judged = { readonly source: NamedSource; readonly notes: readonly string[] };

/** Share of a stretch's score that is its answer to the prompt: where something answers it, or only comes near. */
const clearShare = 0.6;
const nearestShare = 0.35;

/** Reads, measures and compares all that the choice goes by: everything that needs a model happens here, at once. */
export async function judgeSource(
  analysis: SourceAnalysis,
  request: ChoiceRequest,
  embedder: Embedder,
): Promise<Judged> {
  const curves = sourceCurves(analysis);
  const sentences = understoodSentences(analysis.sound, {
    durationMs: analysis.duration_ms,
    cutsMs: curves.shotsMs,
  });
  const prompt = wantedPrompt(request);
  const headingTopic = sentences.length === 0 ? '' : wantedHeadingTopic(request);
  const vectors = await embedded(embedder, {
    sentences: sentences.map(({ text }) => text),
    wanted: sentences.length === 0 ? [] : (prompt?.wanted ?? []),
    unwanted: sentences.length === 0 ? [] : (prompt?.unwanted ?? []),
    anyPrompt: sentences.length === 0 || prompt === null ? [] : anyPromptTexts,
    heading: headingTopic === '' ? [] : [headingTopic],
  });
  const topics = topicBoundaries(sentences, vectors.sentences, curves.shotsMs);
  // A topic neither goes on with what stands before it nor needs what comes after.
  const marks = sentences.map((sentence, at) =>
    markSentence(
      sentence,
      (topics[at] ?? 1) >= newTopic ? undefined : sentences[at - 1],
      (topics[at + 1] ?? 1) >= newTopic ? undefined : sentences[at + 1],
    ),
  );
  const pairShare = curves.pairs.mean.bind(curves.pairs);
  const match =
    prompt === null || sentences.length === 0
      ? null
      : matchPrompt(prompt, vectors, { sentences, vectors: vectors.sentences, topics, pairShare });
  return {
    source: {
      ...{ curves, sentences, marks, topics, style: request.style },
      vectors: vectors.sentences,
      relevance: match === null || match.matches === 'none' ? null : match.relevance,
      promptShare: match?.matches === 'clearly' ? clearShare : nearestShare,
      headingTopic: vectors.heading[0] ?? null,
    },
    notes: promptNotes(request, prompt, match),
  };
}

function wantedPrompt({ prompt }: ChoiceRequest): PromptTexts | null {
  if (prompt === null || prompt.trim() === '') return null;
  return promptTexts(prompt);
}

function wantedHeadingTopic({ auto_heading: isAuto, heading }: ChoiceRequest): string {
  const text = heading?.instructions ?? '';
  if (!isAuto || (heading?.text ?? '') !== '' || text.trim() === '') return '';
  return headingInstructions(text).topic;
}

type TextLists = Readonly<
  Record<'sentences' | 'wanted' | 'unwanted' | 'anyPrompt' | 'heading', readonly string[]>
>;

/** All lists of texts in one run of the model, and their vectors under the same names. */
async function embedded(
  embedder: Embedder,
  lists: TextLists,
): Promise<Record<keyof TextLists, readonly Float32Array[]>> {
  const { sentences, wanted, unwanted, anyPrompt, heading } = lists;
  const texts = [...sentences, ...wanted, ...unwanted, ...anyPrompt, ...heading];
  const vectors = texts.length === 0 ? [] : await embedder.embed(texts);
  let from = 0;
  const next = (list: readonly string[]): readonly Float32Array[] => {
    from += list.length;
    return vectors.slice(from - list.length, from);
  };
  return {
    sentences: next(sentences),
    wanted: next(wanted),
    unwanted: next(unwanted),
    anyPrompt: next(anyPrompt),
    heading: next(heading),
  };
}

function promptNotes(
  request: ChoiceRequest,
  prompt: PromptTexts | null,
  match: PromptMatch | null,
): readonly string[] {
  if (prompt === null || match?.matches === 'clearly') return [];
  const { style } = request;
  if (match === null) {
    return [
      `The prompt could not be followed, as no speech was understood in the source: the clips were chosen by the style "${style}" alone.`,
    ];
  }
  return match.matches === 'none'
    ? [
        `Nothing that is said in the source matches the prompt: the clips were chosen by the style "${style}" alone.`,
      ]
    : [
        `Nothing that is said in the source clearly matches the prompt: what comes nearest was preferred, and the style "${style}" decided otherwise.`,
      ];
}
