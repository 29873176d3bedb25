import type { Span } from '../../media/speech/utterances.ts';
import type { SourceName } from '../contract.ts';

const longestName = 60;

/**
 * A title that promises nothing which was not measured: the source's own name and the time in it, such as
 * `Board meeting, 0:03 to 0:34`. Pure.
 */
export function clipTitle(sourceName: SourceName, span: Span): string {
  const name = sourceHeading(sourceName);
  const time = `${clock(span.startMs)} to ${clock(span.endMs)}`;
  return name === null ? `Clip from ${time}` : `${name}, ${time}`;
}

/** What the source is called, tidied, or null when its name holds no words. Pure. */
export function sourceHeading(sourceName: SourceName): string | null {
  return readableTitle(sourceName.title ?? '') ?? readableName(sourceName.fileName) ?? null;
}

/** What people wrote as a title, as they wrote it, or undefined when it holds no words. */
function readableTitle(title: string): string | undefined {
  const words = withoutControls(title).replace(/\s+/g, ' ').trim();
  return /\p{L}/u.test(words) ? shortened(words) : undefined;
}

/** The name of a file or of the last part of a URL as words, or undefined when it holds none. */
function readableName(fileName: string): string | undefined {
  const words = withoutControls(
    decoded(fileName)
      .replace(/[?#].*$/, '')
      .replace(/\.[A-Za-z0-9]{2,4}$/, ''),
  )
    .replace(/[_+.\s-]+/g, ' ')
    .trim();
  const meaningless = !/\p{L}{2}/u.test(words) || /\b[0-9a-f]{12,}\b/i.test(words.replaceAll(' ', ''));
  if (meaningless) return undefined;
  return shortened(words.charAt(0).toUpperCase() + words.slice(1));
}

/** Control characters, and those that turn the direction of writing. */
function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '');
}

function shortened(words: string): string {
  return words.length <= longestName ? words : words.slice(0, longestName).replace(/\s+\S*$/, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const tail = `${minutes}:${String(rest).padStart(2, '0')}`;
  return hours === 0 ? tail : `${hours}:${tail.padStart(5, '0')}`;
}
