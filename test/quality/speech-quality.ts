import { readFile } from 'node:fs/promises';
import type { SpokenWord } from '#workers/media/analysis/analysis-schema.ts';
import type { Programme } from './media-manifest.ts';
import { alignWords, comparableWords, wordErrors } from './word-errors.ts';

/** Errors among the words of a reference. */
export type ErrorCount = { readonly errors: number; readonly words: number };

type TimedTruth = readonly (readonly [word: string, start: number, end: number])[];

/** What was said, against what is known to be said. */
export function transcriptErrors(heard: readonly SpokenWord[], reference: string): ErrorCount {
  const words = comparableWords(reference);
  return { errors: wordErrors(words, comparableWords(textOf(heard))), words: words.length };
}

/** Errors in a programme's stretches of `kind` (such as `real`) whose words are known. */
export function programmeErrors(
  heard: readonly SpokenWord[],
  programme: Programme,
  kind: string,
): ErrorCount {
  const counts = programme.segments
    .filter(({ speech, utterances }) => speech.startsWith(kind) && utterances.length > 0)
    .map(({ utterances }) => {
      const [startMs, endMs] = [(utterances[0]?.start ?? 0) * 1000, (utterances.at(-1)?.end ?? 0) * 1000];
      const inside = heard.filter(
        (word) => word.start_ms >= startMs - 300 && (word.start_ms + word.end_ms) / 2 < endMs,
      );
      return transcriptErrors(inside, utterances.map(({ text }) => text).join(' '));
    });
  return summed(counts);
}

export function summed(counts: readonly ErrorCount[]): ErrorCount {
  return {
    errors: counts.reduce((sum, { errors }) => sum + errors, 0),
    words: counts.reduce((sum, { words }) => sum + words, 0),
  };
}

/**
 * How far the starts of rightly heard words lie from the truth, in milliseconds. A first word that the aligner
 * puts at the very start of its recording is left out: there it did not look for the silence before.
 */
export async function startErrors(file: string, heard: readonly SpokenWord[]): Promise<readonly number[]> {
  const truth = (await wordTimes())[file] ?? [];
  const single = heard.flatMap((word) =>
    comparableWords(word.text).length === 1 ? [{ ...word, text: comparableWords(word.text)[0] ?? '' }] : [],
  );
  const reference = truth.map(([word]) => comparableWords(word).join(''));
  return alignWords(
    reference,
    single.map(({ text }) => text),
  ).flatMap(({ reference: at, heard: index }) => {
    const [known, found] = [truth[at ?? -1], single[index ?? -1]];
    if (known === undefined || found === undefined || reference[at ?? -1] !== found.text) return [];
    if (known[1] === 0) return [];
    return [Math.abs(found.start_ms - known[1] * 1000)];
  });
}

async function wordTimes(): Promise<Readonly<Record<string, TimedTruth>>> {
  const text = await readFile(new URL('word-times.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { files: Record<string, TimedTruth> }).files;
}

function textOf(words: readonly SpokenWord[]): string {
  return words.map(({ text }) => text).join(' ');
}
