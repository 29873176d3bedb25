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
 * A text measured once, to be set in lines of at most so many ems: as few as it takes, and of those the most even.
 * Line breaks in the text stay; a word wider than a line is broken where it must. Pure.
 */
export function lineBreaker(text: string, fonts: Fonts): (width: number) => WrappedText {
  const paragraphs = text
    .split('\n')
    .map((paragraph) => breakable(paragraph).map((part) => measured(part, fonts)));
  return (width) => {
    const wrapped = paragraphs.map((parts) => evenLines(parts, width));
    return {
      lines: wrapped.flatMap(({ lines }) => lines),
      isBroken: wrapped.some(({ isBroken }) => isBroken),
    };
  };
}

/** A part of a text, by its characters and their widths in ems. */
type Part = {
  readonly characters: readonly { readonly text: string; readonly width: number }[];
  readonly width: number;
  /** Without the spaces after it. */
  readonly inkWidth: number;
};

function measured(text: string, fonts: Fonts): Part {
  const widths = characters(text).map((character) => ({
    text: character,
    width: textWidth(character, fonts),
  }));
  const sum = (some: typeof widths): number => some.reduce((total, { width }) => total + width, 0);
  return {
    characters: widths,
    width: sum(widths),
    inkWidth: sum(widths.filter((character) => character.text.trim() !== '')),
  };
}

function evenLines(parts: readonly Part[], width: number): WrappedText {
  const widest = filled(parts, width);
  let [low, high] = [width / widest.lines.length, width];
  let best = widest;
  // The narrowest width that takes no more lines makes them even.
  for (let step = 0; step < 8 && widest.lines.length > 1; step += 1) {
    const middle = (low + high) / 2;
    const tried = filled(parts, middle);
    if (tried.lines.length > widest.lines.length || (tried.isBroken && !widest.isBroken)) low = middle;
    else [best, high] = [tried, middle];
  }
  return best;
}

/** Each line takes as much as goes into it. */
function filled(parts: readonly Part[], width: number): WrappedText {
  const lines: string[] = [];
  let isBroken = false;
  let lineWidth = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    if (lineWidth + part.inkWidth > width) {
      lines.push('');
      lineWidth = 0;
    }
    for (const { text, width: wide } of part.characters) {
      // Only in a part that is wider than a whole line.
      if (lineWidth > 0 && text.trim() !== '' && lineWidth + wide > width) {
        lines.push('');
        lineWidth = 0;
        isBroken = true;
      }
      lines.push(`${lines.pop() ?? ''}${text}`);
      lineWidth += wide;
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
