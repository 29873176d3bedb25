import type { FontFile } from './font-file.ts';
import { characters, textWidth } from './measure-text.ts';

type Fonts = readonly Pick<FontFile, 'advance'>[];

/** Lines of text, and whether a word had to be broken for them. */
export type WrappedText = { readonly lines: readonly string[]; readonly isBroken: boolean };

/** Scripts that are written without spaces break between any two characters. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\u3000-\u303f\uff00-\uffef]/u;
/** What may not begin a line: closing brackets, and marks that end a clause. */
const notFirst = /^[)\]}、。，．！？；：」』】〉》…,.!?;:%]/u;

/**
 * Text in lines of at most `width` ems: as few as it takes, and of those the most even. Line breaks in the text
 * stay; a word wider than a line is broken where it must. Pure.
 */
export function wrapText(text: string, width: number, fonts: Fonts): WrappedText {
  const paragraphs = text.split('\n').map((paragraph) => wrapParagraph(paragraph, width, fonts));
  return {
    lines: paragraphs.flatMap(({ lines }) => lines),
    isBroken: paragraphs.some(({ isBroken }) => isBroken),
  };
}

function wrapParagraph(text: string, width: number, fonts: Fonts): WrappedText {
  const widest = filled(text, width, fonts);
  let [low, high] = [width / widest.lines.length, width];
  let best = widest;
  // The narrowest width that takes no more lines makes them even.
  for (let step = 0; step < 8; step += 1) {
    const middle = (low + high) / 2;
    const tried = filled(text, middle, fonts);
    if (tried.lines.length > widest.lines.length || (tried.isBroken && !widest.isBroken)) low = middle;
    else [best, high] = [tried, middle];
  }
  return best;
}

/** Each line takes as much as goes into it. */
function filled(text: string, width: number, fonts: Fonts): WrappedText {
  const lines: string[] = [];
  let isBroken = false;
  for (const part of breakable(text)) {
    const line = lines.at(-1);
    if (line !== undefined && textWidth((line + part).trimEnd(), fonts) <= width) {
      lines[lines.length - 1] = line + part;
    } else {
      const pieces = pieceByPiece(part.trimStart(), width, fonts);
      isBroken ||= pieces.length > 1;
      lines.push(...pieces);
    }
  }
  return { lines: lines.map((line) => line.trim()).filter((line) => line !== ''), isBroken };
}

/** The parts of a text between which a line may end; a space belongs to the word before it. */
function breakable(text: string): readonly string[] {
  return (text.match(/\S+\s*/gu) ?? []).flatMap((word) =>
    unspaced.test(word) ? unspacedParts(word) : [word],
  );
}

function unspacedParts(word: string): readonly string[] {
  const parts: string[] = [];
  for (const character of characters(word)) {
    const last = parts.at(-1);
    const joins =
      last !== undefined && (notFirst.test(character) || !(unspaced.test(last) || unspaced.test(character)));
    if (joins) parts[parts.length - 1] = last + character;
    else parts.push(character);
  }
  return parts;
}

function pieceByPiece(word: string, width: number, fonts: Fonts): readonly string[] {
  const pieces = [''];
  for (const character of characters(word)) {
    const piece = pieces.at(-1) ?? '';
    if (piece !== '' && textWidth((piece + character).trimEnd(), fonts) > width) pieces.push(character);
    else pieces[pieces.length - 1] = piece + character;
  }
  return pieces;
}
