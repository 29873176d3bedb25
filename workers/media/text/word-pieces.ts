import { z } from 'zod';

const tokenizerFile = z.object({
  model: z.object({ vocab: z.record(z.string(), z.int()), max_input_chars_per_word: z.int().default(100) }),
});

/** The pieces of words that a language model knows, and their numbers. */
export type WordPieces = {
  readonly numbers: ReadonlyMap<string, number>;
  /** A longer word is unknown as a whole. */
  readonly longestWord: number;
};

/** Reads a tokenizer.json of the WordPiece kind. Pure. */
export function parseWordPieces(json: string): WordPieces {
  const { model } = tokenizerFile.parse(JSON.parse(json));
  return {
    numbers: new Map(Object.entries(model.vocab)),
    longestWord: model.max_input_chars_per_word,
  };
}

/**
 * A text as token numbers, with `[CLS]` before and `[SEP]` after it; what is beyond `most` tokens is cut off.
 * Upper case and accents do not count, as the uncased BERT models want it. Pure.
 */
export function tokenNumbers(text: string, pieces: WordPieces, most: number): readonly number[] {
  const inner = plainWords(text).flatMap((word) => piecesOf(word, pieces));
  const special = (token: string): number => pieces.numbers.get(token) ?? 0;
  return [special('[CLS]'), ...inner.slice(0, most - 2), special('[SEP]')];
}

function plainWords(text: string): readonly string[] {
  const plain = text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .replace(/[\p{Cc}\p{Cf}\uFFFD]/gu, (character) => (/\s/.test(character) ? ' ' : ''))
    .toLowerCase();
  // Each punctuation mark, symbol of ASCII and Chinese character is a word of its own.
  return plain.match(/\p{Script=Han}|[\p{P}$+<=>^`|~]|[^\s\p{P}\p{Script=Han}$+<=>^`|~]+/gu) ?? [];
}

/** The longest known pieces from left to right; pieces inside a word are marked by `##`. */
function piecesOf(word: string, { numbers, longestWord }: WordPieces): readonly number[] {
  const characters = [...word];
  const unknown = [numbers.get('[UNK]') ?? 0];
  if (characters.length > longestWord) return unknown;
  const found: number[] = [];
  for (let start = 0; start < characters.length; ) {
    let end = characters.length;
    let number: number | undefined;
    for (; end > start && number === undefined; end -= number === undefined ? 1 : 0) {
      number = numbers.get((start > 0 ? '##' : '') + characters.slice(start, end).join(''));
    }
    if (number === undefined) return unknown;
    found.push(number);
    start = end;
  }
  return found;
}
