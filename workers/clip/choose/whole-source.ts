import type { Candidate, JudgedSource } from './candidates.ts';
import type { DurationRange } from './clip-durations.ts';

/** A source that is shorter than the shortest clip is taken as it is. Pure. */
export function wholeSource(source: JudgedSource): Candidate {
  return stretch(source, source.curves.durationMs);
}

/** One long unbroken thing: no pause lies at the right distance, so time alone decides. Pure. */
export function unbroken(source: JudgedSource, range: DurationRange): Candidate {
  const targetMs = Math.min(source.curves.durationMs, range.idealToMs);
  return stretch(source, outsideWords(source, targetMs));
}

/** The start of the word that `atMs` lies in, else `atMs`. */
function outsideWords(source: JudgedSource, atMs: number): number {
  for (const { words } of source.sentences) {
    const hit = words.find((word) => word.start_ms < atMs && atMs < word.end_ms);
    if (hit !== undefined) return hit.start_ms;
  }
  return atMs;
}

function stretch(source: JudgedSource, endMs: number): Candidate {
  const endSentence = source.sentences.filter((sentence) => sentence.endMs <= endMs).length;
  return { startMs: 0, endMs, firstSentence: 0, endSentence, total: 0, parts: {} };
}

/** Why there are fewer clips than asked, a sentence for the client; null when there are not. Pure. */
export function shortfall(
  found: number,
  asked: number,
  source: { readonly range: DurationRange; readonly durationMs: number },
): string | null {
  if (found >= asked) return null;
  const { range, durationMs } = source;
  if (durationMs < range.minMs) {
    const lasts = (durationMs / 1000).toFixed(1);
    return `The source lasts only ${lasts} seconds, which is enough for one clip; ${asked} were asked for.`;
  }
  const seconds = Math.round(range.minMs / 1000);
  const clips = found === 1 ? 'one clip' : `${found} clips`;
  return `The source gives only ${clips} of at least ${seconds} seconds without repeating itself; ${asked} were asked for.`;
}
