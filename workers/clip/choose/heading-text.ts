import { bareWord, functionWords, stem } from './english-words.ts';
import type { HeadingInstructions } from './heading-instructions.ts';
import type { Headline } from './headlines.ts';

/** A heading stands large on the picture: fewer words than a title's, where there is a choice. */
const comfortableWords = 7;
const mostWords = 10;
const clearlyBetter = 0.15;
const styleEmoji: Readonly<Record<string, string>> = { viral: '🔥', business: '📈', gaming: '🎮' };

/** Emoji for what a heading says; the first that fits. */
const emojiOf: readonly (readonly [RegExp, string])[] = [
  [/\b(?:love|heart|loved)\b/i, '❤️'],
  [/\b(?:laugh|funny|hilarious|joke)\w*/i, '😂'],
  [/\b(?:money|cost|price|pay|paid|profit|revenue|dollars?|buy|invest)\w*/i, '💰'],
  [/\b(?:star|stars|sky|space|galaxy|galaxies|telescope|universe|moon|planet)\b/i, '🔭'],
  [/\b(?:book|books|print|printed|printing|read|poem|write)\w*/i, '📖'],
  [/\b(?:war|fight|battle|army|soldier)\w*/i, '⚔️'],
  [/\b(?:game|level|boss|player|win|won|shoot|shot)\w*/i, '🎮'],
  [/\b(?:food|eat|cook|farm|table|restaurant)\w*/i, '🍽️'],
  [/\b(?:code|software|computer|data|model|ai|speech)\w*/i, '💻'],
  [/\b(?:country|nation|president|america\w*|freedom|liberty)\b/i, '🗽'],
  [/\b(?:music|song|sing|guitar)\w*/i, '🎵'],
  [/\b(?:idea|think|learn|lesson|secret)\w*/i, '💡'],
  [/\b(?:warning|danger|never|mistake|wrong)\w*/i, '⚠️'],
];

/** The best heading for a clip, shaped as its instructions say; null where there is no headline. Pure. */
export function headingText(
  headlines: readonly Headline[],
  instructions: HeadingInstructions | null,
  style: string,
): string | null {
  const asked = instructions?.mostWords ?? null;
  const fits = headlines.filter((headline) => headline.wordCount <= (asked ?? comfortableWords));
  const wantsQuestion = instructions?.asQuestion === true;
  const best =
    (wantsQuestion ? fits.find((headline) => headline.isQuestion) : undefined) ??
    (asked === null ? comfortable(headlines, fits) : (fits[0] ?? shortestOf(headlines)));
  if (best === undefined) return instructions === null ? null : shaped('', instructions, style);
  return instructions === null ? best.text : shaped(best.text, instructions, style);
}

/** The best one that is comfortably short, unless a longer one is clearly better. */
function comfortable(headlines: readonly Headline[], fits: readonly Headline[]): Headline | undefined {
  const [best] = headlines;
  const [short] = fits;
  if (best === undefined || short === undefined) return best;
  return short.score >= best.score - clearlyBetter ? short : best;
}

function shortestOf(headlines: readonly Headline[]): Headline | undefined {
  return headlines.toSorted((a, b) => a.wordCount - b.wordCount || b.score - a.score)[0];
}

/** A text in the form that was asked for; null when nothing is left of it. Pure. */
export function shaped(text: string, instructions: HeadingInstructions, style: string): string | null {
  const { mustHave, mostWords: asked } = instructions;
  let words = limited(text, asked ?? mostWords);
  const missing = mustHave.filter((phrase) => !words.toLowerCase().includes(phrase.toLowerCase()));
  if (missing.length > 0) {
    const taken = missing.join(' ').split(/\s+/).length;
    const rest = limited(words, Math.max(0, (asked ?? mostWords) - taken));
    words = rest === '' ? missing.join(', ') : `${missing.join(', ')}: ${rest}`;
  }
  if (words === '') return null;
  if (instructions.asQuestion && !words.endsWith('?')) words = asQuestion(words, asked ?? mostWords);
  if (instructions.withExclamation && !/[!?]$/.test(words)) words = `${words.replace(/\.$/, '')}!`;
  words = inCase(words, instructions.letterCase);
  return instructions.withEmoji ? `${words} ${emojiFor(words, style)}` : words;
}

/** The first words, without an open end such as `of the`. */
function limited(text: string, most: number): string {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length <= most) return text;
  const kept = words.slice(0, most);
  while (kept.length > 1 && functionWords.has(bareWord(kept.at(-1) ?? ''))) kept.pop();
  return kept.join(' ').replace(/[,;:.–—-]+$/u, '');
}

const toBe = /^(.{3,40}?)\s+(is|are|was|were|can|could|will|would|should)\s+(.+)$/i;

/** `The first books were printed …` → `Were the first books printed …?`, else `Did you know: …?` or the text with a question mark. */
function asQuestion(text: string, most: number): string {
  const match = toBe.exec(text);
  const [, subject = '', verb = '', rest = ''] = match ?? [];
  const isPlainSubject =
    match !== null && /^(?:the|a|an|our|your|my|all|this|these)\b/i.test(subject) && !/,/.test(subject);
  if (isPlainSubject) {
    return `${capitalised(verb.toLowerCase())} ${subject.charAt(0).toLowerCase()}${subject.slice(1)} ${rest}?`;
  }
  const withLead = `Did you know: ${text}?`;
  return withLead.split(/\s+/).length <= most ? withLead : `${text}?`;
}

function inCase(text: string, letterCase: HeadingInstructions['letterCase']): string {
  switch (letterCase) {
    case 'upper':
      return text.toLocaleUpperCase('en');
    case 'lower':
      return text.toLocaleLowerCase('en');
    case 'title':
      return titleCase(text);
    case null:
      return text;
  }
}

/** Capitals for all but short joining words inside. */
function titleCase(text: string): string {
  const small = /^(?:a|an|the|and|but|or|nor|of|in|on|at|to|by|for|from|with|as|than)$/;
  const words = text.split(' ');
  return words
    .map((word, at) =>
      at > 0 && at < words.length - 1 && small.test(bareWord(word)) ? word : capitalised(word),
    )
    .join(' ');
}

function capitalised(word: string): string {
  return word.charAt(0).toLocaleUpperCase('en') + word.slice(1);
}

function emojiFor(text: string, style: string): string {
  return emojiOf.find(([words]) => words.test(text))?.[1] ?? styleEmoji[style] ?? '✨';
}

/** Whether two headlines say much the same, so that not both should stand over clips of one job. Pure. */
export function saysTheSame(one: string, other: string): boolean {
  const [a, b] = [contentOf(one), contentOf(other)];
  const shared = [...a].filter((word) => b.has(word)).length;
  return shared > 0.7 * Math.max(1, Math.min(a.size, b.size));
}

function contentOf(text: string): ReadonlySet<string> {
  const words = text.split(/\s+/).map(bareWord);
  const content = words.filter((word) => word !== '' && !functionWords.has(word)).map(stem);
  return new Set(content.length > 0 ? content : words);
}
