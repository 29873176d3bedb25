import type { HeadingOptions } from '#schemas/records.ts';
import type { HeadingPlan } from './overlay-plan.ts';

/** As the interface's table has them, for a heading that was asked for without any. */
const defaults = {
  style: 'stroke',
  color: 'white',
  font: 'Montserrat',
  position: 'top',
  bg_color: 'black',
} as const;

/**
 * How a clip's heading is drawn, for the whole of the clip; null where there is no text to draw. Pure.
 * `text` is the client's own or the one that was made for the clip.
 */
export function planHeading(
  text: string | null,
  options: Partial<Omit<HeadingOptions, 'text' | 'instructions'>> | null,
  clipLengthMs: number,
): HeadingPlan | null {
  const shown = headingText(text ?? '');
  if (shown === '') return null;
  const { style, color, font, position, bg_color } = { ...defaults, ...options };
  return {
    text: shown,
    style,
    color,
    font,
    position,
    bg_color,
    start_ms: 0,
    end_ms: Math.round(clipLengthMs),
  };
}

/**
 * A heading's text as it can be drawn: the client's line breaks kept, other white space made single spaces,
 * control characters and overrides of the writing direction left out.
 */
function headingText(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n')
    .replace(/[^\P{Cc}\n\t]|[\p{Cs}\u202a-\u202e\u2066-\u2069\ufeff]/gu, '')
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}
