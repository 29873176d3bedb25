import type { SourceAnalysis, SpokenWord } from '#workers/media/analysis/analysis-schema.ts';

/** Analyses of sources that nobody recorded: what is said, what is silent, and where the picture cuts. */

type SaidSentence = {
  readonly text: string;
  readonly startMs: number;
  /** Of each word. */
  readonly wordMs?: number;
  readonly confidence?: number;
};

type SyntheticSource = {
  readonly durationMs: number;
  readonly sentences?: readonly SaidSentence[];
  /** Voices of which no word was recognised. */
  readonly voices?: readonly { readonly startMs: number; readonly endMs: number }[];
  readonly cutsMs?: readonly number[];
  readonly black?: readonly { readonly startMs: number; readonly endMs: number }[];
  readonly hasSound?: boolean;
  /** Tenths of a LUFS at a moment. */
  readonly loudness?: (atMs: number) => number;
  /** 0 to 255 at a moment. */
  readonly motion?: (atMs: number) => number;
};

const framesPerSecond = 30;
const spanOf = ({ startMs, endMs }: { startMs: number; endMs: number }) => ({
  start_ms: startMs,
  end_ms: endMs,
});

export function syntheticAnalysis(source: SyntheticSource): SourceAnalysis {
  const { durationMs, sentences = [], voices = [], cutsMs = [], black = [] } = source;
  const said = sentences.map(saidWords);
  const starts: number[] = [];
  const words: SpokenWord[] = [];
  for (const each of said) {
    starts.push(words.length);
    words.push(...each);
  }
  const spoken = said.map((each) => ({ startMs: each[0]?.start_ms ?? 0, endMs: each.at(-1)?.end_ms ?? 0 }));
  const utterances = [...spoken, ...voices].toSorted((a, b) => a.startMs - b.startMs);
  const steps = Math.floor(durationMs / 100);
  const loudness = Array.from({ length: steps }, (_, step) => source.loudness?.(step * 100) ?? -200);
  return {
    version: 1,
    duration_ms: durationMs,
    frames_per_second: framesPerSecond,
    display_width: 1920,
    display_height: 1080,
    picture: {
      frames_per_second: framesPerSecond,
      frame_count: Math.max(1, Math.round((durationMs * framesPerSecond) / 1000)),
      duration_ms: durationMs,
      frames_per_sample: 4,
      cut_frames: cutsMs.map((atMs) => Math.round((atMs * framesPerSecond) / 1000)),
      motion: Array.from(
        { length: Math.floor(durationMs / 500) },
        (_, step) => source.motion?.(step * 500) ?? 1,
      ),
      black: black.map(spanOf),
      face_tracks: [],
      bar_areas: [],
      insets: [],
    },
    sound:
      source.hasSound === false
        ? null
        : { language: 'en', utterances: utterances.map(spanOf), words, sentence_starts: starts, loudness },
  };
}

function saidWords({ text, startMs, wordMs = 300, confidence = 0.93 }: SaidSentence): SpokenWord[] {
  return text.split(' ').map((word, at) => ({
    text: word,
    start_ms: startMs + at * wordMs,
    end_ms: startMs + (at + 1) * wordMs - 20,
    confidence,
  }));
}

const topics = [
  [
    'The bakers start their ovens long before the sun comes up.',
    'Good bread needs flour, water, salt and a lot of patience.',
    'The dough rests for eighteen hours in a cool room.',
    'Most people buy bread that was frozen for months.',
    'A crisp crust sings when it leaves the oven.',
  ],
  [
    'The submarine dives to a depth of four thousand metres.',
    'No daylight has ever reached this part of the ocean.',
    'Strange fish glow in the dark to catch their food.',
    'The pilots watch the pressure on every single dive.',
    'Two engineers repaired the robot arm on the ocean floor.',
  ],
  [
    'The company doubled its revenue in only three years.',
    'Investors asked for a plan that everybody could understand.',
    'The product failed twice before customers liked it.',
    'Sales grew by forty percent after the price was halved.',
    'A small team made every important decision together.',
  ],
] as const;

/** A talk that changes its topic every five sentences, with a longer pause there. */
export function talk(durationMs: number): SaidSentence[] {
  const said: SaidSentence[] = [];
  let atMs = 500;
  for (let number = 0; ; number += 1) {
    const topic = topics[Math.floor(number / 5) % topics.length] ?? topics[0];
    const text = topic[number % 5] ?? topic[0];
    const lengthMs = text.split(' ').length * 300;
    if (atMs + lengthMs > durationMs) return said;
    said.push({ text, startMs: atMs });
    atMs += lengthMs + (number % 5 === 4 ? 1_500 : 450);
  }
}
