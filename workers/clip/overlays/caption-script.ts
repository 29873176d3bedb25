import { type CaptionLayout, pageSize } from './caption-layout.ts';
import type { FontStack } from './font-store.ts';
import { directionMark } from './measure-text.ts';
import { colorOf, outlineOf } from './overlay-colors.ts';
import type { CaptionPage, CaptionPlan, CaptionWord } from './overlay-plan.ts';
import { frame } from './safe-zone.ts';

/** Words that are not being said; grey where the highlight itself is white, so that it shows. */
const restColor = '#ffffff';
const restBesideWhite = '#b4b4b4';

/**
 * The captions as an ASS script: for each word that is said, an event per line of its page, alike in all but the
 * colors. Nothing but colors may change within a page, since anything else moves the line and makes it tremble. Pure.
 */
export function captionScript(plan: CaptionPlan, layout: CaptionLayout, fonts: FontStack): string {
  const events = plan.pages.flatMap((page) => pageEvents(page, plan, layout, fonts));
  return `${header(layout, fonts)}${events.join('\n')}\n`;
}

function header({ size, outline }: CaptionLayout, fonts: FontStack): string {
  const style = [
    ...['Caption', fonts[0].family, assSize(size, fonts), assColor(restColor), assColor(restColor)],
    ...['&H00000000', '&H60000000', 0, 0, 0, 0, 100, 100, 0, 0, 1, outline, Math.round(outline / 3)],
    // Encoding -1: the writing direction is that of the text.
    ...[2, 0, 0, 0, -1],
  ];
  return [
    '[Script Info]',
    'ScriptType: v4.00+',
    `PlayResX: ${frame.width}`,
    `PlayResY: ${frame.height}`,
    'WrapStyle: 2',
    'ScaledBorderAndShadow: yes',
    'YCbCr Matrix: TV.709',
    '',
    '[V4+ Styles]',
    'Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding',
    `Style: ${style.join(',')}`,
    '',
    '[Events]',
    'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text',
    '',
  ].join('\n');
}

function pageEvents(
  page: CaptionPage,
  plan: CaptionPlan,
  layout: CaptionLayout,
  fonts: FontStack,
): readonly string[] {
  const size = pageSize(page, layout, fonts);
  const words = page.lines.flat();
  const mark = directionMark(words.map(({ text }) => text).join(' '));
  return words.flatMap((word, index) => {
    const start = index === 0 ? page.start_ms : word.start_ms;
    const end = words[index + 1]?.start_ms ?? page.end_ms;
    const [from, to] = [centiseconds(start), centiseconds(Math.min(end, page.end_ms))];
    // Two words may begin at one time: the later one is highlighted then.
    if (from >= to) return [];
    return page.lines.map((line, row) => {
      const below = page.lines.length - 1 - row;
      const baseline = layout.baseline - below * layout.pitch;
      const text = mark + lineText(line, word, plan.color);
      return `Dialogue: 0,${time(from)},${time(to)},Caption,,0,0,0,,${placed(baseline, size, layout, fonts)}${text}`;
    });
  });
}

/** Alignment 2 puts the line's box on the point; the box ends the font's descent below the baseline. */
function placed(baseline: number, size: number, layout: CaptionLayout, fonts: FontStack): string {
  const y = Math.round(baseline + size * fonts[0].winDescent);
  const scaled = size === layout.size ? '' : `\\fs${assSize(size, fonts)}`;
  return `{\\an2\\pos(${frame.width / 2},${y})${scaled}}`;
}

/** ASS measures a font's size from the top of its box to the bottom, by Windows' metrics. */
function assSize(size: number, [font]: FontStack): number {
  return Math.round(size * (font.winAscent + font.winDescent));
}

function lineText(line: readonly CaptionWord[], spoken: CaptionWord, color: string): string {
  const highlight = colorOf(color);
  const rest = color === 'white' ? restBesideWhite : restColor;
  return line
    .map((word) => {
      const fill = word === spoken ? highlight : rest;
      return `{\\1c${tagColor(fill)}\\3c${tagColor(outlineOf(fill))}}${escaped(word.text)}`;
    })
    .join(' ');
}

/** What ASS would read as a tag or a line break, as characters that every font has. Pure. */
export function escaped(text: string): string {
  return text
    .replaceAll('\\', '/')
    .replaceAll('{', '(')
    .replaceAll('}', ')')
    .replace(/[\r\n\t\p{Cc}]+/gu, ' ');
}

/** `#rrggbb` as ASS writes colors: opacity, blue, green, red. */
function assColor(color: string): string {
  return `&H00${color.slice(5, 7)}${color.slice(3, 5)}${color.slice(1, 3)}`.toUpperCase();
}

function tagColor(color: string): string {
  return `&H${color.slice(5, 7)}${color.slice(3, 5)}${color.slice(1, 3)}&`.toUpperCase();
}

function centiseconds(ms: number): number {
  return Math.round(ms / 10);
}

function time(at: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${Math.floor(at / 360_000)}:${two((at / 6_000) % 60)}:${two((at / 100) % 60)}.${two(at % 100)}`;
}
