import type { CaptionOptions } from '#schemas/records.ts';
import { captionWords, parts } from './caption-words.ts';
import type { ClipWord } from './clip-words.ts';
import type { CaptionPage, CaptionPlan } from './overlay-plan.ts';

/** Twenty would do too, at a smaller size. */
const mostLineCharacters = 18;
const mostLines = 2;
const mostPageMs = 2_000;
/** What is said on a page: some time is left to read its last word. */
const mostSpokenMs = 1_800;
/** How long a page may stay after its last word; and so short a gap to the next page is no gap. */
const lingerMs = 400;

export type PlannedCaptions = {
  /** Null where there is nothing to show. */
  readonly plan: CaptionPlan | null;
  /** Sentences for people: a clip without captions that were asked for says why. */
  readonly notes: readonly string[];
};

/**
 * What a clip's captions show and when; `words` are in clip time, `wordsInClipTime` gives them. Nothing of a source
 * whose words are nonsense is shown: a phrase of it may well have come out sure of itself. Pure.
 */
export function planCaptions(
  words: readonly ClipWord[],
  options: Pick<CaptionOptions, 'enabled' | 'color' | 'font'> | null,
  isNonsense = false,
): PlannedCaptions {
  if (options?.enabled !== true) return { plan: null, notes: [] };
  const shown = isNonsense ? [] : captionWords(words);
  if (shown.length === 0) {
    const reason = words.length === 0 ? 'nothing is said in it' : 'what is said in it was not understood';
    return { plan: null, notes: [`The clip has no captions: ${reason}.`] };
  }
  const left = words.length - shown.length;
  const pages = phrasesOf(shown).flatMap(pagesOf);
  return {
    plan: { color: options.color, font: options.font, pages: pages.map(timed) },
    notes:
      left * 5 > words.length ? [`${left} of ${words.length} words were not clear enough for captions.`] : [],
  };
}

function phrasesOf(words: readonly ClipWord[]): readonly (readonly ClipWord[])[] {
  const starts = words.flatMap((word, index) => {
    const last = words[index - 1];
    return last === undefined || parts(last, word) ? [index] : [];
  });
  return starts.map((start, index) => words.slice(start, starts[index + 1] ?? words.length));
}

type Ending = { readonly cost: number; readonly from: number };

/**
 * Parts a phrase into pages, the best of all ways: as few pages as it takes, none nearly empty, ends at commas
 * rather than between words that belong together.
 */
function pagesOf(phrase: readonly ClipWord[]): readonly (readonly ClipWord[])[] {
  const best: Ending[] = [{ cost: 0, from: 0 }];
  for (let end = 1; end <= phrase.length; end += 1) {
    let chosen: Ending = { cost: Number.POSITIVE_INFINITY, from: end - 1 };
    for (let from = end - 1; from >= 0 && (from === end - 1 || fits(phrase.slice(from, end))); from -= 1) {
      const cost = (best[from]?.cost ?? 0) + pageCost(phrase.slice(from, end), end === phrase.length);
      if (cost < chosen.cost) chosen = { cost, from };
    }
    best.push(chosen);
  }
  const pages: (readonly ClipWord[])[] = [];
  for (let end = phrase.length; end > 0; end = best[end]?.from ?? 0) {
    pages.unshift(phrase.slice(best[end]?.from ?? 0, end));
  }
  return pages;
}

function fits(words: readonly ClipWord[]): boolean {
  return durationMs(words) <= mostSpokenMs && linesOf(words) !== undefined;
}

function pageCost(words: readonly ClipWord[], isLast: boolean): number {
  const slack = 1 - length(words) / (mostLineCharacters * mostLines);
  return 1 + 0.8 * slack ** 2 - (isLast || endsClause(words) ? 0.25 : 0);
}

function endsClause(words: readonly ClipWord[]): boolean {
  return /[,;:—–、，]$/u.test(words.at(-1)?.text ?? '');
}

/** How many characters more the longer line may have for the first to end at a comma. */
const worthOfComma = 6;

/** One line where it fits, else two that part at a comma or are as even as can be; undefined where two do not do. */
function linesOf(words: readonly ClipWord[]): readonly (readonly ClipWord[])[] | undefined {
  if (length(words) <= mostLineCharacters) return [words];
  const breaks = words
    .map((_, index) => [words.slice(0, index), words.slice(index)] as const)
    .slice(1)
    .map((lines) => ({ lines, longest: Math.max(...lines.map(length)) }))
    .filter(({ longest }) => longest <= mostLineCharacters)
    .map(({ lines, longest }) => ({ lines, cost: longest - (endsClause(lines[0]) ? worthOfComma : 0) }))
    .toSorted((a, b) => a.cost - b.cost);
  return breaks[0]?.lines;
}

/** Characters as people count them, with the spaces between. */
function length(words: readonly ClipWord[]): number {
  return words.reduce((sum, { text }) => sum + [...text].length + 1, -1);
}

function durationMs(words: readonly ClipWord[]): number {
  return (words.at(-1)?.end_ms ?? 0) - (words[0]?.start_ms ?? 0);
}

/** A page stays a moment after its last word, but never into the next page or over a cut. */
function timed(
  page: readonly ClipWord[],
  index: number,
  pages: readonly (readonly ClipWord[])[],
): CaptionPage {
  const [first, last] = [page[0], page.at(-1)];
  const next = pages[index + 1]?.[0];
  const start_ms = first?.start_ms ?? 0;
  const spoken = last?.end_ms ?? 0;
  const isFollowed = next !== undefined && next.cut === last?.cut;
  const wished = Math.min(spoken + (isFollowed ? lingerMs : 0), start_ms + mostPageMs);
  const end_ms = Math.max(start_ms + 1, Math.min(wished, next?.start_ms ?? wished));
  const lines = linesOf(page) ?? [page];
  return {
    start_ms,
    end_ms,
    lines: lines.map((line) => line.map(({ text, start_ms, end_ms }) => ({ text, start_ms, end_ms }))),
  };
}
