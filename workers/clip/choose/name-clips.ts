import { similarity } from '../../media/text/sentence-embedder.ts';
import type { SourceName } from '../contract.ts';
import type { Candidate, JudgedSource } from './candidates.ts';
import type { ChoiceRequest } from './choice-request.ts';
import { clipTitle, sourceHeading } from './clip-title.ts';
import { type HeadingInstructions, headingInstructions } from './heading-instructions.ts';
import { headingText, saysTheSame, shaped } from './heading-text.ts';
import { type Headline, headlines, leastHeadlineScore, type WordRarity, wordRarity } from './headlines.ts';

export type ClipName = {
  readonly title: string;
  readonly heading: string | null;
  readonly notes: readonly string[];
};

/** What a language model called a clip. */
type AdvisedName = { readonly title: string; readonly heading: string | null };

export type NamedSource = JudgedSource & {
  readonly vectors: readonly Float32Array[];
  /** What the heading's instructions are about; null where they say nothing of that. */
  readonly headingTopic: Float32Array | null;
};

/** Likeness to the instructions' topic from which a sentence's headlines are favoured. */
const leastTopicLikeness = 0.2;

/**
 * Titles and headings for a job's clips, out of what is said in them; where nothing that can be used is said,
 * the source's own name. No two clips get the same title. Pure.
 */
export function nameClips(
  clips: readonly { readonly clip: Candidate; readonly advised: AdvisedName | null }[],
  source: NamedSource,
  request: ChoiceRequest,
): readonly ClipName[] {
  const rarity = wordRarity(source.sentences);
  const instructions = wantedInstructions(request);
  const taken: string[] = [];
  return clips.map(({ clip, advised }) => {
    const own = advised === null || taken.some((title) => saysTheSame(title, advised.title)) ? null : advised;
    if (own !== null) {
      taken.push(own.title);
      return { title: own.title, heading: advisedHeading(own, request), notes: [] };
    }
    const found = clipHeadlines(clip, source, rarity);
    const titles = found.filter(
      ({ text, score }) => score >= leastHeadlineScore && !taken.some((title) => saysTheSame(title, text)),
    );
    const title = titles[0]?.text ?? clipTitle(request.sourceName, clip);
    taken.push(title);
    return { title, ...headingOf(titles, title, instructions, request) };
  });
}

function advisedHeading(advised: AdvisedName, request: ChoiceRequest): string | null {
  const own = request.heading?.text ?? '';
  if (own.trim() !== '') return own;
  return request.auto_heading ? (advised.heading ?? advised.title) : null;
}

function wantedInstructions(request: ChoiceRequest): HeadingInstructions | null {
  const text = request.heading?.instructions ?? '';
  const applies = request.auto_heading && (request.heading?.text ?? '') === '' && text.trim() !== '';
  return applies ? headingInstructions(text) : null;
}

function clipHeadlines(clip: Candidate, source: NamedSource, rarity: WordRarity): readonly Headline[] {
  const [first, end] = [clip.firstSentence, clip.endSentence];
  const vectors = source.vectors.slice(first, end);
  const favour = vectors.map((vector, at) => {
    const { headingTopic } = source;
    const topic =
      headingTopic === null ? 0 : Math.max(0, similarity(vector, headingTopic) - leastTopicLikeness);
    return Math.min(1, (source.relevance?.[first + at] ?? 0) * 0.6 + topic * 2);
  });
  return headlines({ sentences: source.sentences.slice(first, end), vectors, favour }, rarity);
}

function headingOf(
  titles: readonly Headline[],
  title: string,
  instructions: HeadingInstructions | null,
  request: ChoiceRequest,
): { heading: string | null; notes: readonly string[] } {
  const own = request.heading?.text ?? '';
  if (own.trim() !== '') return { heading: own, notes: [] };
  if (!request.auto_heading) return { heading: null, notes: [] };
  const notes = instructions === null ? [] : [followedNote(instructions)];
  const fromWords = titles.length > 0 ? headingText(titles, instructions, request.style) : null;
  const heading = fromWords ?? namedHeading(request.sourceName, title, instructions, request.style);
  if (heading !== null) return { heading, notes };
  return {
    heading,
    notes: [...notes, 'No heading: nothing in the clip could be understood, and the source has no name.'],
  };
}

function namedHeading(
  name: SourceName,
  title: string,
  instructions: HeadingInstructions | null,
  style: string,
): string | null {
  const text = sourceHeading(name) ?? '';
  if (instructions === null) return text === '' ? null : text;
  return shaped(text, instructions, style) ?? (text === '' ? null : title);
}

/** Instructions go as far as rules reach: what was followed is said, so that nobody takes silence for obedience. */
function followedNote({ followed, topic }: HeadingInstructions): string {
  const about = topic === '' ? [] : ['sentences near their subject preferred'];
  const all = [...followed, ...about];
  return all.length === 0
    ? 'The heading instructions could not be followed without a language model.'
    : `Of the heading instructions these were followed without a language model: ${all.join(', ')}.`;
}
