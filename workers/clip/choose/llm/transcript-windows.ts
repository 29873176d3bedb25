import type { Sentence } from '../transcript.ts';

/** Sentences `first` up to, not with, `end`. */
export type Window = { readonly first: number; readonly end: number };

const windowMs = 90_000;
const overlapMs = 30_000;

/** Windows of 90 s, each beginning 30 s before the last one ends, so that no passage falls between two. Pure. */
export function transcriptWindows(sentences: readonly Sentence[]): readonly Window[] {
  const windows: Window[] = [];
  let first = 0;
  while (first < sentences.length) {
    const startMs = sentences[first]?.startMs ?? 0;
    const end = firstFrom(sentences, startMs + windowMs, first + 1);
    windows.push({ first, end });
    if (end >= sentences.length) break;
    const nextMs = (sentences[end - 1]?.endMs ?? 0) - overlapMs;
    first = Math.max(first + 1, firstFrom(sentences, nextMs, first));
  }
  return windows;
}

/** The first sentence from `at` on that starts at `fromMs` or later. */
function firstFrom(sentences: readonly Sentence[], fromMs: number, at: number): number {
  let found = at;
  while (found < sentences.length && (sentences[found]?.startMs ?? 0) < fromMs) found += 1;
  return found;
}

/** Sentences as the model reads them: number, time, text. Pure. */
export function numberedLines(sentences: readonly Sentence[], window: Window): string {
  return sentences
    .slice(window.first, window.end)
    .map((sentence, at) => {
      const seconds = (sentence.startMs / 1000).toFixed(1);
      const lasts = ((sentence.endMs - sentence.startMs) / 1000).toFixed(1);
      return `${window.first + at} [at ${seconds} s, ${lasts} s long] ${sentence.text}`;
    })
    .join('\n');
}
