import type { FontFile } from './font-file.ts';

type Fonts = readonly Pick<FontFile, 'advance'>[];

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });
/** What no font has is drawn as a box. */
const missingAdvance = 0.6;
const emojiAdvance = 1.1;

/** What people take for single characters: an emoji of several code points, a letter with its marks. Pure. */
export function characters(text: string): readonly string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/**
 * How wide text is drawn, in ems, by the first font that has each character. Kerning and joined letters are not
 * counted, which make it a little narrower. Pure.
 */
export function textWidth(text: string, fonts: Fonts): number {
  return characters(text).reduce((sum, character) => sum + characterWidth(character, fonts), 0);
}

function characterWidth(character: string, fonts: Fonts): number {
  if (/\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}/u.test(character)) return emojiAdvance;
  const codePoints = [...character].filter((point) => !/[\p{M}\p{Cf}]/u.test(point));
  return codePoints.reduce((sum, point) => sum + advance(point.codePointAt(0) ?? 0, fonts), 0);
}

function advance(codePoint: number, fonts: Fonts): number {
  for (const font of fonts) {
    const found = font.advance(codePoint);
    if (found !== undefined) return found;
  }
  return missingAdvance;
}

/**
 * A mark to set before each line of a text so that its direction is the whole text's, whatever the line begins
 * with; none where nothing in it is written from right to left. Pure.
 */
export function directionMark(text: string): string {
  const rightToLeft =
    text.match(/[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}]/gu)?.length ?? 0;
  if (rightToLeft === 0) return '';
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return rightToLeft * 2 >= letters ? '\u200f' : '\u200e';
}
