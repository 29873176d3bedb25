import { similarity } from '../../media/text/sentence-embedder.ts';
import {
  backPointers,
  bareWord,
  functionWords,
  isNumber,
  replies,
  stem,
  strongWords,
} from './english-words.ts';
import { type HeadlineRun, headlineRuns } from './headline-runs.ts';
import type { Sentence } from './transcript.ts';

/** A possible headline, ready to be read. */
export type Headline = {
  readonly text: string;
  readonly score: number;
  readonly isQuestion: boolean;
  readonly wordCount: number;
  /** Number of its sentence in the clip. */
  readonly sentence: number;
};

/** How rare each word is in the source; higher is rarer. */
export type WordRarity = (stemmed: string) => number;

/** Better than nothing: below this a headline says less than the source's name. */
export const leastHeadlineScore = 0.45;

/** The rarity of words by the sentences that say them (inverse document frequency). Pure. */
export function wordRarity(sentences: readonly Sentence[]): WordRarity {
  const counts = new Map<string, number>();
  for (const sentence of sentences) {
    const said = new Set(sentence.words.map((word) => stem(bareWord(word.text))));
    for (const word of said) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return (word) => Math.log((sentences.length + 1) / ((counts.get(word) ?? 0) + 0.5));
}

/**
 * Headlines out of a clip's own words, the best first: short clauses that stand alone, hold its key words, and
 * are near what the whole clip is about. `favour` adds to a sentence's headlines, such as for a prompt. Pure.
 */
export function headlines(
  clip: {
    readonly sentences: readonly Sentence[];
    readonly vectors: readonly Float32Array[];
    readonly favour: readonly number[];
  },
  rarity: WordRarity,
): readonly Headline[] {
  const runs = headlineRuns(clip.sentences);
  const centrality = centralities(clip.vectors);
  const keywords = keywordWeights(clip.sentences, rarity);
  return runs
    .map((run) => ({
      text: headlineText(run, clip.sentences),
      score:
        shapeScore(run) +
        0.35 * keywordShare(run, keywords) +
        0.2 * (centrality[run.sentence] ?? 0) +
        0.25 * (clip.favour[run.sentence] ?? 0),
      isQuestion: run.words.at(-1)?.endsWith('?') === true,
      wordCount: run.words.length,
      sentence: run.sentence,
    }))
    .toSorted((a, b) => b.score - a.score || a.sentence - b.sentence || a.text.localeCompare(b.text, 'en'));
}

/** A sentence says something, a phrase only names it. */
const kindScore: Readonly<Record<HeadlineRun['kind'], number>> = { sentence: 0.4, clause: 0.3, phrase: 0.18 };

/** How well a run reads on its own, whatever it says. */
function shapeScore(run: HeadlineRun): number {
  const { bare, kind } = run;
  const first = bare[0] ?? '';
  let score = kindScore[kind] + (0.25 * bare.filter((word) => !functionWords.has(word)).length) / bare.length;
  if (run.words.at(-1)?.endsWith('?') === true) score += 0.1;
  if (bare.some(isNumber)) score += 0.06;
  if (bare.some((word) => strongWords.has(word))) score += 0.05;
  if (backPointers.has(first)) score -= 0.35;
  if (/^(?:i|i'm|i'd|i've|i'll|we|we're|we've)$/.test(first)) score -= 0.12;
  if (replies.has(first) || /^(?:i'm|my name)\b/.test(bare.join(' '))) score -= 0.3;
  if (bare.some((word) => /^(?:um|uh|er|hmm|thank|thanks|welcome|hello|hi)$/.test(word))) score -= 0.3;
  const overEight = Math.max(0, bare.length - 8);
  const underFour = Math.max(0, 4 - bare.length);
  return score - 0.03 * overEight - 0.08 * underFour;
}

/** How near each sentence is to what the clip is about, 0 to 1. */
function centralities(vectors: readonly Float32Array[]): readonly number[] {
  const first = vectors[0];
  if (first === undefined) return [];
  const mean = first.map(
    (_, at) => vectors.reduce((sum, vector) => sum + (vector[at] ?? 0), 0) / vectors.length,
  );
  const near = vectors.map((vector) => similarity(vector, mean));
  const [least, most] = [Math.min(...near), Math.max(...near)];
  return near.map((value) => (most - least < 1e-6 ? 1 : (value - least) / (most - least)));
}

/** What the clip says often and the rest of the source seldom. */
function keywordWeights(sentences: readonly Sentence[], rarity: WordRarity): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const { words } of sentences) {
    for (const { text, confidence } of words) {
      const word = bareWord(text);
      if (functionWords.has(word) || word.length < 3 || confidence < 0.7) continue;
      const key = stem(word);
      const name = /^\p{Lu}/u.test(text) ? 1.2 : 1;
      weights.set(key, (weights.get(key) ?? 0) + rarity(key) * name);
    }
  }
  return weights;
}

/** The share of the clip's key words that the run holds, 1 for as good as three of its best. */
function keywordShare(run: HeadlineRun, weights: ReadonlyMap<string, number>): number {
  const best = [...weights.values()].toSorted((a, b) => b - a).slice(0, 3);
  const full = best.reduce((sum, weight) => sum + weight, 0);
  const held = new Set(run.bare.filter((word) => !functionWords.has(word)).map(stem));
  let sum = 0;
  for (const word of held) sum += weights.get(word) ?? 0;
  return full === 0 ? 0 : Math.min(1, sum / full);
}

/** A run as it is shown: a capital first, no capital that only began a piece of speech, no comma at its end. Pure. */
function headlineText(run: HeadlineRun, sentences: readonly Sentence[]): string {
  const sentence = sentences[run.sentence];
  const isFirst = sentence?.words[0]?.text === run.words[0];
  const words = run.words.map((word, at) => {
    const plain = bareWord(word);
    const startsSentence = at === 0 && isFirst;
    if (!startsSentence && /^\p{Lu}/u.test(word) && functionWords.has(plain) && !/^i(?:'|$)/.test(plain)) {
      return word.toLowerCase();
    }
    return word;
  });
  const text = words
    .join(' ')
    .replace(/^[\s"'“”‘’(–—-]+/u, '')
    .replace(/[\s,;:.–—"“”(-]+$/u, '');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
