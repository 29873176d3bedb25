import type { FontStack } from './font-store.ts';
import { textWidth } from './measure-text.ts';
import type { CaptionPage } from './overlay-plan.ts';
import { safeWidth, safeZone } from './safe-zone.ts';

/** How captions are set: sizes in pixels of the clip's picture. */
export type CaptionLayout = {
  /** The em's size. */
  readonly size: number;
  readonly outline: number;
  /** From one baseline to the next. */
  readonly pitch: number;
  /** Where the last line's baseline stands. */
  readonly baseline: number;
};

/** A line of as many common characters as a line may have: it fits the safe width. */
const usualLine = 'the right answer w';
const [smallest, largest] = [44, 104] as const;
/** Letters are as high as this where there is the width: halfway between small ones and capitals. */
const letterHeight = 58;
/** Between letters that hang below the last line and the safe zone's end. */
const hang = 0.3;

/** The captions' size and place in a clip; `bottom` is where they have to end, in pixels from the top. Pure. */
export function captionLayout(fonts: FontStack, bottom: number = safeZone.bottom): CaptionLayout {
  const byWidth = (safeWidth * 0.94) / textWidth(usualLine, fonts);
  const byHeight = letterHeight / ((fonts[0].capHeight + fonts[0].xHeight) / 2);
  const size = Math.round(Math.min(largest, Math.max(smallest, Math.min(byWidth, byHeight))));
  const outline = Math.round(size * 0.09);
  const pitch = Math.round(size * (fonts[0].capHeight + 0.55));
  return { size, outline, pitch, baseline: Math.round(bottom - outline - size * hang) };
}

/** The size at which each line of a page fits the safe width: the clip's, or smaller for a very long word. Pure. */
export function pageSize(page: CaptionPage, layout: CaptionLayout, fonts: FontStack): number {
  const widest = Math.max(
    ...page.lines.map((line) => textWidth(line.map(({ text }) => text).join(' '), fonts)),
  );
  return Math.min(layout.size, Math.floor((safeWidth - 2 * layout.outline) / widest));
}

/** How high two lines of captions are, with their outline. Pure. */
export function captionHeight(layout: CaptionLayout, fonts: FontStack): number {
  return Math.round(
    layout.pitch + layout.size * (Math.max(fonts[0].capHeight, 0.75) + hang) + 2 * layout.outline,
  );
}
