/**
 * What can be followed of `heading.instructions` without a language model: form (letter case, a question, an
 * emoji, exclamation, a limit of words), words in quotation marks that must appear, and what it should be about.
 */
export type HeadingInstructions = {
  readonly letterCase: 'upper' | 'lower' | 'title' | null;
  readonly asQuestion: boolean;
  readonly withEmoji: boolean;
  readonly withExclamation: boolean;
  readonly mostWords: number | null;
  readonly mustHave: readonly string[];
  /** The instructions without those, to compare sentences with; empty where nothing is left. */
  readonly topic: string;
  /** What of all this was asked for, in words. */
  readonly followed: readonly string[];
};

const numberNames = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const quoted = /["“«„]([^"”»“]{1,80})["”»“]|(?<![\p{L}\p{N}])['‘]([^'’]{2,80})['’](?![\p{L}\p{N}])/gu;
const limit =
  /\b(?:(?:at most|max(?:imum)?(?: of)?|no more than|up to|under|fewer than|less than|within|exactly|only|in|use|keep (?:it )?to|of)\s+)*(\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten)(?:\s*(?:-|to|–)\s*(\d{1,2}))?[- ]words?\b/i;
const negated = /\b(?:no|not|without|avoid|don'?t use|never)\b[^.;,]{0,16}$/i;

/** Reads instructions in English for a heading. Pure. */
export function headingInstructions(instructions: string): HeadingInstructions {
  const mustHave = [...instructions.matchAll(quoted)].map((match) => (match[1] ?? match[2] ?? '').trim());
  const plain = instructions.replace(quoted, ' ');
  const asks = (pattern: RegExp): boolean => {
    const match = pattern.exec(plain);
    return match !== null && !negated.test(plain.slice(0, match.index));
  };
  const letterCase = asks(/\b(?:all[- ]?caps|upper[- ]?case|capital letters|capitals|block letters)\b/i)
    ? 'upper'
    : asks(/\b(?:lower[- ]?case|small letters)\b/i)
      ? 'lower'
      : asks(/\btitle[- ]?case\b/i)
        ? 'title'
        : null;
  const asQuestion = asks(/\bquestions?\b/i);
  const withEmoji = asks(/\bemojis?\b/i);
  const withExclamation = asks(/\b(?:exclamation|exclaim)/i);
  const mostWords = wordLimit(plain);
  return {
    ...{ letterCase, asQuestion, withEmoji, withExclamation, mostWords, mustHave },
    topic: topicOf(plain),
    followed: [
      ...(letterCase === null ? [] : [`${letterCase} case`]),
      ...(asQuestion ? ['a question'] : []),
      ...(withEmoji ? ['an emoji'] : []),
      ...(withExclamation ? ['an exclamation mark'] : []),
      ...(mostWords === null ? [] : [`at most ${mostWords} words`]),
      ...mustHave.map((words) => `the words "${words}"`),
    ],
  };
}

function wordLimit(plain: string): number | null {
  const match = limit.exec(plain);
  if (match === null) return null;
  const text = (match[2] ?? match[1] ?? '').toLowerCase();
  const named = numberNames.indexOf(text);
  const most = named >= 0 ? named : Number(text);
  const isUnder = /\b(?:under|fewer than|less than)\b/i.test(match[0]);
  return Math.max(1, isUnder ? most - 1 : most);
}

const formWords =
  /\b(?:please|make|write|use|keep|it|the|a|an|and|in|with|as|one|heading|headline|title|text|all[- ]?caps|upper[- ]?case|lower[- ]?case|title[- ]?case|capital letters|capitals|small letters|questions?|emojis?|exclamation(?: marks?)?|short|punchy|catchy|at most|max(?:imum)?|no more than|up to|include|including|mention|must|contain|be|should|always|style|phrase[ds]?|words?|word|only|add|end|start|about|focus on|talk about|\d+)\b/gi;

/** What is left when all words of form are taken out. */
function topicOf(plain: string): string {
  return plain
    .replace(limit, ' ')
    .replace(formWords, ' ')
    .replace(/[^\p{L}\p{N}' -]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
